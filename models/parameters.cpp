#include "models/parameters.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/suggest.h"

namespace fuselage {
namespace {

/// Dimensions as [rows, columns]; a vector is one row.
Dims as_matrix(const Tensor& tensor) {
  Dims dims(tensor.shape().begin(), tensor.shape().end());
  while (dims.size() < 2) dims.insert(dims.begin(), 1);
  return dims;
}

}  // namespace

Parameters::Parameters(Builder& builder, const TensorMap& weights, std::string where)
    : builder_(builder), weights_(weights), where_(std::move(where)) {}

const Tensor& Parameters::stored(const std::string& name) const {
  const auto found = weights_.find(name);
  if (found != weights_.end()) {
    const DType dtype = found->second.dtype();
    if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::f64 && dtype != DType::bf16)
      throw Error("{}: parameter '{}' is stored as {}; weights must be floating-point", where_,
                  name, to_string(dtype));
    return found->second;
  }
  std::vector<std::string_view> names;
  for (const auto& [known, tensor] : weights_) names.push_back(known);
  throw Error(
      "{}: parameter '{}' is missing{}; the file is damaged, or its configuration describes "
      "another "
      "model",
      where_, name, did_you_mean(name, names));
}

std::int64_t Parameters::rows(const std::string& name) const { return as_matrix(stored(name))[0]; }

Expr Parameters::declare(const std::string& name, Dims dims, DomainId domain) {
  if (const auto found = declared_.find(name); found != declared_.end()) return found->second;
  Dims expected = dims;
  if (domain != builder_.graph().none())
    expected.insert(expected.begin(), builder_.graph().domain(domain).size);
  if (expected.size() == 1) expected.insert(expected.begin(), 1);
  const Dims actual = as_matrix(stored(name));
  if (actual != expected)
    throw Error("{}: parameter '{}' has shape {}, but the configuration asks for {}", where_, name,
                shape_to_string(actual), shape_to_string(expected));
  return declared_.emplace(name, builder_.param(name, std::move(dims), domain)).first->second;
}

Expr Parameters::matrix(const std::string& name, std::int64_t in, std::int64_t out) {
  return declare(name, {in, out}, builder_.graph().none());
}

Expr Parameters::vector(const std::string& name, std::int64_t size) {
  return declare(name, {size}, builder_.graph().none());
}

Expr Parameters::table(const std::string& name, DomainId vocabulary, std::int64_t width) {
  return declare(name, {width}, vocabulary);
}

TensorMap Parameters::take() const {
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : weights_)
    if (declared_.count(name) == 0) unused.push_back(name);
  if (!unused.empty())
    throw Error(
        "{}: {} parameter{} not used by the architecture that the configuration describes: {}; an "
        "option may be missing or misread",
        where_, unused.size(), unused.size() == 1 ? " is" : "s are", fmt::join(unused, ", "));
  TensorMap result;
  for (const auto& [name, expr] : declared_) {
    const Type& type = expr.type();
    Dims dims = type.dims;
    if (type.domain != builder_.graph().none())
      dims.insert(dims.begin(), builder_.graph().domain(type.domain).size);
    result.emplace(name, weights_.at(name).to_f32().reshaped(dims));
  }
  return result;
}

}  // namespace fuselage
