#include "models/architectures/activation.h"

#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <numbers>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

Expr identity_of(Expr x) { return x; }
Expr relu_of(Expr x) { return relu(x); }
Expr gelu_of(Expr x) { return gelu(x); }
Expr swish_of(Expr x) { return swish(x); }
Expr tanh_of(Expr x) { return tanh(x); }
Expr sigmoid_of(Expr x) { return sigmoid(x); }

Expr gelu_by_tanh(Expr x) {
  const double scale = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + tanh(scale * (x + 0.044715 * (x * x * x))));
}

Expr gelu_by_sigmoid(Expr x) { return x * sigmoid(1.702 * x); }

}  // namespace

Expr activation(const std::string& name, Expr x) {
  static const std::map<std::string, Expr (*)(Expr)> functions = {
      {"gelu", gelu_of},          {"gelu_fast", gelu_by_tanh},
      {"gelu_new", gelu_by_tanh}, {"gelu_pytorch_tanh", gelu_by_tanh},
      {"linear", identity_of},    {"quick_gelu", gelu_by_sigmoid},
      {"relu", relu_of},          {"sigmoid", sigmoid_of},
      {"silu", swish_of},         {"swish", swish_of},
      {"tanh", tanh_of},
  };
  const auto found = functions.find(name);
  if (found != functions.end()) return found->second(x);
  std::vector<std::string_view> names;
  for (const auto& [known, function] : functions) names.push_back(known);
  throw Error(fmt::format("activation function {} is not known; it can be {}", in_quotes(name),
                          fmt::join(names, ", ")));
}

}  // namespace fuselage
