// Quantization to integers with a scale, conversion to 16-bit floats, and transposition.

#include "fuselage/ops/precision/quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

Quantizer quantizer_from(const op::Quantization& quantization) {
  constexpr std::int64_t kTooLarge = 1 << 16;
  return {.to = quantization.to,
          .largest = static_cast<std::int32_t>(
              std::clamp<std::int64_t>(quantization.largest, 0, kTooLarge)),
          .largest_sum = quantization.largest_sum,
          .scale = static_cast<float>(quantization.given_scale),
          .logarithmic = quantization.logarithmic};
}

/// The type of x in quantized vectors; throws Error if x cannot be divided into them.
Type quantized_type(const InferContext& in, Type x) {
  const auto vectors = in.as<op::Quantize>().vectors;
  if (x.dims.empty()) in.fail(fmt::format("it takes vectors, not {}", in.show(x)));
  if (vectors < 1 || x.dims.back() % vectors != 0)
    in.fail(fmt::format("{} cannot be divided into {} vectors", in.show(x), vectors));
  if (vectors > 1) {
    x.dims.back() /= vectors;
    x.dims.insert(x.dims.end() - 1, vectors);
  }
  x.dtype = in.as<op::Quantize>().to;
  return x;
}

void expect_rounding(const InferContext& in, const Type& type) {
  const op::Quantization defaults{.to = type.dtype};
  if (in.operand_count() > 1 ||
      attribute_values(in.as<op::Quantization>()) != attribute_values(defaults))
    in.fail(
        fmt::format("{} numbers have neither a scale nor bounds, and are no vectors of their own",
                    to_string(type.dtype)));
  expect_even_if_half(in, type);
}

std::vector<Type> infer_quantize(const InferContext& in) {
  const Type& x = in.operand(0);
  if (is_half(x.dtype) && !is_half(in.as<op::Quantize>().to))
    expect_weights_if_half(in, x.dtype, x.domain);
  else
    expect_f32(in, 0);
  const Type type = quantized_type(in, x);
  if (is_half(type.dtype)) {
    expect_rounding(in, type);
    return {type};
  }
  const Quantizer quantizer = quantizer_from(in.as<op::Quantize>());
  try {
    quantizer.verify();
  } catch (const Error& error) {
    in.fail(error.what());
  }
  if (quantizer.largest_sum > 0 && quantizer.largest_sum <= type.dims.back())
    in.fail(fmt::format("a sum of {} integers cannot be bounded by {}", type.dims.back(),
                        quantizer.largest_sum));
  if (in.operand_count() > 1) {
    const Type& scale = in.operand(1);
    if (quantizer.largest_sum > 0) in.fail("with a given scale, sums cannot be bounded");
    if (scale.dtype != DType::f32 || scale.domain != in.none() || row_size(scale) != 1)
      in.fail(fmt::format("its scale must be one number for all rows, not {}", in.show(scale)));
  }
  return {type};
}

Cost cost_quantize(const InferContext& in) {
  const auto size = static_cast<double>(row_size(in.operand(0)));
  const auto bytes =
      static_cast<double>(row_bytes(in.operand(0)) + row_bytes(quantized_type(in, in.operand(0))));
  return {.flop = 4 * size, .bytes = bytes};
}

/// Double values are converted to float before they are rounded to 16 bits.
template <typename T>
void round_to(DType to, const std::vector<T>& x, std::vector<T>& out) {
  std::transform(x.begin(), x.end(), out.begin(), [to](T value) {
    return static_cast<T>(rounded_to(to, static_cast<float>(value)));
  });
}

/// Computed in float even if the rest is evaluated in double, so that the integers are the same.
template <typename T>
void evaluate_quantize(EvalContext<T>& context) {
  Quantizer quantizer = quantizer_of(context.node);
  if (is_half(quantizer.to))
    return round_to(quantizer.to, context.operands[0]->data, context.results[0].data);
  if (context.operands.size() > 1)
    quantizer.scale = static_cast<float>(context.operands[1]->data[0]);
  const std::int64_t k =
      context.operand_type(0).dims.back() / context.node.template as<op::Quantization>().vectors;
  const auto& x = context.operands[0]->data;
  auto& out = context.results[0].data;
  std::vector<float> vector(static_cast<std::size_t>(k));
  std::vector<std::byte> quantized(vector_bytes(quantizer.to, k));
  for (std::size_t at = 0; at < x.size(); at += vector.size()) {
    std::transform(x.begin() + static_cast<std::ptrdiff_t>(at),
                   x.begin() + static_cast<std::ptrdiff_t>(at + vector.size()), vector.begin(),
                   [](T value) { return static_cast<float>(value); });
    const float scale = quantization_scale(quantizer, vector.data(), k);
    quantize_vector(quantizer, vector.data(), k, scale, quantized.data());
    for (std::int64_t i = 0; i < k; ++i)
      out[at + static_cast<std::size_t>(i)] =
          static_cast<T>(scale) * static_cast<T>(quantized_at(quantizer.to, quantized.data(), i));
  }
}

std::vector<Type> infer_dequantize(const InferContext& in) {
  Type type = in.operand(0);
  if (!is_quantized(type.dtype))
    in.fail(fmt::format("it takes quantized vectors, not {}", in.show(type)));
  type.dtype = DType::f32;
  return {type};
}

Cost cost_dequantize(const InferContext& in) {
  const auto size = static_cast<double>(row_size(in.operand(0)));
  return {.flop = size, .bytes = 4 * size + static_cast<double>(row_bytes(in.operand(0)))};
}

/// In the reference evaluation a quantized value is stored as the numbers that it represents.
template <typename T>
void evaluate_dequantize(EvalContext<T>& context) {
  context.results[0].data = context.operands[0]->data;
}

std::vector<Type> infer_cast(const InferContext& in) {
  Type type = in.operand(0);
  const auto to = in.as<op::Cast>().to;
  const auto casts = [&](DType dtype, DType other) {
    if (dtype == DType::i32) return other == DType::f32;
    return dtype == DType::f32 ? is_half(other) || other == dtype
                               : is_half(dtype) && (other == DType::f32 || other == dtype);
  };
  if (!casts(type.dtype, to))
    in.fail(fmt::format("it casts i32 to f32, and between f32 and bf16 or f16, not {} to {}",
                        to_string(type.dtype), to_string(to)));
  if (is_half(to))
    expect_weights_if_half(in, to, type.domain);
  else
    expect_even_if_half(in, type);
  type.dtype = to;
  return {type};
}

Cost cost_cast(const InferContext& in) {
  const auto size = static_cast<double>(row_size(in.operand(0)));
  return {.flop = size, .bytes = 6 * size};
}

template <typename T>
void evaluate_cast(EvalContext<T>& context) {
  const auto to = context.node.template as<op::Cast>().to;
  if (is_half(to))
    round_to(to, context.operands[0]->data, context.results[0].data);
  else
    context.results[0].data = context.operands[0]->data;
}

std::vector<Type> infer_transpose(const InferContext& in) {
  expect_f32(in, 0);
  Type type = in.operand(0);
  if (type.dims.size() != 2) in.fail(fmt::format("it takes a matrix a row, not {}", in.show(type)));
  std::swap(type.dims[0], type.dims[1]);
  return {type};
}

Cost cost_transpose(const InferContext& in) {
  return {.bytes = 8 * static_cast<double>(row_size(in.operand(0)))};
}

template <typename T>
void evaluate_transpose(EvalContext<T>& context) {
  const Dims& dims = context.operand_type(0).dims;
  const Array<T>& x = *context.operands[0];
  for (std::int64_t r = 0; r < x.rows; ++r)
    for (std::int64_t i = 0; i < dims[0]; ++i)
      for (std::int64_t j = 0; j < dims[1]; ++j)
        context.results[0].row(r)[j * dims[0] + i] = x.row(r)[i * dims[1] + j];
}

}  // namespace

Quantizer quantizer_of(const Node& node) { return quantizer_from(node.as<op::Quantization>()); }

op::Quantization quantization_of(const Quantizer& quantizer) {
  return {.to = quantizer.to,
          .largest = quantizer.largest,
          .largest_sum = quantizer.largest_sum,
          .logarithmic = quantizer.logarithmic,
          .given_scale = quantizer.scale};
}

Dims quantized_results(const Node& node) {
  return node.has<op::QuantizedResults>() ? node.as<op::QuantizedResults>().quantized : Dims{};
}

std::span<const OpDef> quantize_ops() {
  static const OpDef ops[] = {
      define<op::Quantize>(
          {.summary =
               "round(x / scale) and the scale, for each of the `vectors` equal parts of x's "
               "last dimension. The integers are at most "
               "`largest` in magnitude, and `largest_sum` in the sum of magnitudes (0: "
               "any); the scale is the operand or else `given_scale`, if that is positive, "
               "otherwise the smallest possible. "
               "Integers of qlog4 are powers of two, with a fitted scale; `logarithmic` "
               "integers of qint8 are powers of two or 0. To bf16 or f16, x is rounded, ties to "
               "even, without a scale. Weights may be bf16 or f16, which are quantized as their "
               "numbers in f32 would be.",
           .operands = {{"x"}, {"scale", OperandSpec::Arity::optional}},
           .traits = Trait::row_wise,
           .infer = infer_quantize,
           .cost = cost_quantize,
           .evaluate_f32 = evaluate_quantize<float>,
           .evaluate_f64 = evaluate_quantize<double>}),
      define<op::Dequantize>({.summary = "scale × integer, for each element of quantized vectors.",
                              .operands = {{"x"}},
                              .traits = Trait::row_wise,
                              .infer = infer_dequantize,
                              .cost = cost_dequantize,
                              .evaluate_f32 = evaluate_dequantize<float>,
                              .evaluate_f64 = evaluate_dequantize<double>}),
      define<op::Cast>({.summary =
                            "x rounded to bf16 or f16, ties to even, or 16-bit floats or i32 "
                            "converted to f32.",
                        .operands = {{"x"}},
                        .traits = Trait::row_wise,
                        .infer = infer_cast,
                        .cost = cost_cast,
                        .evaluate_f32 = evaluate_cast<float>,
                        .evaluate_f64 = evaluate_cast<double>}),
      define<op::Transpose>({.summary = "xᵀ, for the matrix in each row.",
                             .operands = {{"x"}},
                             .traits = Trait::row_wise | Trait::linear,
                             .infer = infer_transpose,
                             .cost = cost_transpose,
                             .evaluate_f32 = evaluate_transpose<float>,
                             .evaluate_f64 = evaluate_transpose<double>}),
  };
  return ops;
}

}  // namespace fuselage
