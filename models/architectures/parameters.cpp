#include "fuselage/models/architectures/parameters.h"

#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/precision/quantize.h"
#include "models/architectures/random_tensor.h"
#include "models/formats/widened.h"

namespace fuselage {
namespace {

/// Numbers of a model with random weights; 8 GiB.
constexpr double kMaxMadeNumbers = 2147483648.0;

/// Dimensions as [rows, columns]; a vector is one row.
Dims as_matrix(const Tensor& tensor) {
  Dims dims(tensor.shape().begin(), tensor.shape().end());
  while (dims.size() < 2) dims.insert(dims.begin(), 1);
  return dims;
}

}  // namespace

Parameters::Parameters(Builder& builder, const TensorMap& weights, std::string where)
    : builder_(builder), weights_(weights), where_(std::move(where)) {}

Parameters::Parameters(Builder& builder, std::uint64_t seed, std::string where)
    : builder_(builder), seed_(seed), weights_(made_), where_(std::move(where)) {}

void Parameters::make(const std::string& name, const Dims& shape, bool is_table) {
  made_numbers_ += std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
  if (!(made_numbers_ <= kMaxMadeNumbers))
    throw LocatedError(
        fmt::format("{}: with parameter {} the model has {:g} numbers, but {:g} at "
                    "most are made at random; make it smaller",
                    where_, in_quotes(name), made_numbers_, kMaxMadeNumbers));
  double deviation = 1;
  if (!is_table) deviation = shape.size() == 1 ? 0.1 : 1 / std::sqrt(static_cast<double>(shape[0]));
  made_.emplace(name, normal_tensor(shape, deviation, *seed_, name));
}

const Tensor& Parameters::stored(const std::string& name) const {
  const auto found = weights_.find(name);
  if (found != weights_.end()) {
    const DType dtype = found->second.dtype();
    if (dtype != DType::f32 && dtype != DType::f16 && dtype != DType::f64 && dtype != DType::bf16 &&
        !is_quantized(dtype))
      throw LocatedError(fmt::format(
          "{}: parameter {} is stored as {}; weights must be floating-point or quantized", where_,
          in_quotes(name), to_string(dtype)));
    return found->second;
  }
  std::vector<std::string_view> names;
  for (const auto& [known, tensor] : weights_) names.push_back(known);
  throw LocatedError(fmt::format(
      "{}: parameter {} is missing{}; the file is damaged, or its configuration describes "
      "another "
      "model",
      where_, in_quotes(name), did_you_mean(name, names)));
}

bool Parameters::is_in_integers(const std::string& name) const {
  return !seed_ && is_quantized(stored(name).dtype());
}

bool Parameters::is_in_halves(const std::string& name) const {
  return !seed_ && is_half(stored(name).dtype());
}

std::int64_t Parameters::rows(const std::string& name, std::int64_t otherwise,
                              const char* source) const {
  if (!seed_) return as_matrix(stored(name))[0];
  if (otherwise <= 0)
    throw LocatedError(
        fmt::format("{}: the size of parameter {} is not known without weights; state it by '{}'",
                    where_, in_quotes(name), source));
  return otherwise;
}

Expr Parameters::declare(const std::string& name, Dims dims, DomainId domain, bool widens) {
  if (const auto found = declared_.find(name); found != declared_.end()) return found->second;
  Dims expected = dims;
  if (domain != builder_.graph().none())
    expected.insert(expected.begin(), builder_.graph().domain(domain).size);
  if (seed_) make(name, expected, domain != builder_.graph().none());
  if (expected.size() == 1) expected.insert(expected.begin(), 1);
  const Dims actual = as_matrix(stored(name));
  if (actual != expected)
    throw LocatedError(
        fmt::format("{}: parameter {} has shape {}, but the configuration asks for {}", where_,
                    in_quotes(name), shape_to_string(actual), shape_to_string(expected)));
  const bool as_stored = is_in_integers(name) || (is_in_halves(name) && !widens);
  const DType dtype = as_stored ? stored(name).dtype() : DType::f32;
  return declared_.emplace(name, builder_.param(name, std::move(dims), domain, dtype))
      .first->second;
}

Expr Parameters::numbers(const std::string& name, Expr param) {
  if (param.type().dtype == DType::f32) return param;
  const auto [found, added] = numbers_.try_emplace(name);
  if (added)
    found->second = (is_half(param.type().dtype)
                         ? cast(param, DType::f32)
                         : builder_.add(op::Dequantize{}, {param}, CodeLocation::current()))
                        .named(name);
  return found->second;
}

/// Scale of the operand that the quantized `name` is multiplied with; invalid if the file stores no
/// multiplier. It is a number of the graph, so that kernels can quantize what they compute. Equal
/// multipliers share one, so that an operand of several products is quantized once.
Expr Parameters::scale_of_rows(const std::string& name) {
  const std::string multiplier = name + "_QuantMultA";
  if (!has(multiplier)) return {};
  const Tensor& tensor = stored(multiplier);
  if (tensor.size() != 1)
    throw LocatedError(fmt::format("{}: parameter {} has shape {}; a multiplier has shape [1, 1]",
                                   where_, in_quotes(multiplier), shape_to_string(tensor.shape())));
  const float value = tensor.to_f32().data<float>()[0];
  if (!(value > 0) || !std::isnormal(1 / value))
    throw LocatedError(fmt::format("{}: parameter {} is {}; a multiplier must be a positive number",
                                   where_, in_quotes(multiplier), value));
  const auto [found, added] = scales_.try_emplace(value);
  if (added) found->second = builder_.constant(1 / value).named(name + ".scale_of_rows");
  as_numbers_.insert(multiplier);
  return found->second;
}

Expr Parameters::matrix(const std::string& name, std::int64_t in, std::int64_t out) {
  if (!is_in_integers(name))
    return numbers(name, declare(name, {in, out}, builder_.graph().none()));
  const Expr columns = declare(name, {out, in}, builder_.graph().none());
  builder_.multiply_in_integers(columns, {.columns = columns, .scale = scale_of_rows(name)});
  return columns;
}

Expr Parameters::transposed_matrix(const std::string& name, std::int64_t out, std::int64_t in) {
  if (!is_in_integers(name))
    return numbers(name, declare(name, {out, in}, builder_.graph().none()));
  const Expr columns = declare(name, {in, out}, builder_.graph().none());
  return builder_.add(op::Transpose{}, {numbers(name, columns)}, CodeLocation::current());
}

Expr Parameters::vector(const std::string& name, std::int64_t size) {
  return numbers(name, declare(name, {size}, builder_.graph().none(), /*widens=*/true));
}

Expr Parameters::default_row(const std::string& name, std::int64_t size) {
  return numbers(name, declare(name, {size}, builder_.graph().none()));
}

Expr Parameters::table(const std::string& name, DomainId vocabulary, std::int64_t width) {
  const Expr rows = declare(name, {width}, vocabulary);
  const Expr table = numbers(name, rows);
  if (is_in_integers(name))
    builder_.multiply_in_integers(table, {.columns = rows, .scale = scale_of_rows(name)});
  return table;
}

TensorMap Parameters::take() const {
  std::vector<std::string> unused;
  for (const auto& [name, tensor] : weights_)
    if (declared_.count(name) == 0 && as_numbers_.count(name) == 0)
      unused.push_back(in_quotes(name));
  if (!unused.empty())
    throw LocatedError(fmt::format(
        "{}: {} parameter{} not used by the architecture that the configuration describes: {}; an "
        "option may be missing or misread",
        where_, unused.size(), unused.size() == 1 ? " is" : "s are", fmt::join(unused, ", ")));
  TensorMap result;
  for (const auto& [name, expr] : declared_) {
    const Type& type = expr.type();
    Dims dims = type.dims;
    if (type.domain != builder_.graph().none())
      dims.insert(dims.begin(), builder_.graph().domain(type.domain).size);
    const Tensor& tensor = weights_.at(name);
    const bool as_stored = tensor.dtype() == type.dtype;
    result.emplace(name, (as_stored ? tensor : widened(tensor, name, where_)).reshaped(dims));
  }
  return result;
}

}  // namespace fuselage
