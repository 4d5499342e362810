// Numbers as integers with a scale.

#include <algorithm>

#include "base/error.h"
#include "base/quantized.h"
#include "ops/evaluate.h"
#include "ops/families.h"
#include "ops/infer.h"

namespace fuselage {
namespace {

/// `source`: a node, or the context that infers its type.
template <class Source>
Quantizer quantizer_of(const Source& source) {
  constexpr std::int64_t kTooLarge = 1 << 16;
  const auto largest = source.template attr<std::int64_t>("largest");
  return {.to = source.template attr<DType>("to"),
          .largest = static_cast<std::int32_t>(std::clamp<std::int64_t>(largest, 0, kTooLarge)),
          .largest_sum = source.template attr<std::int64_t>("largest_sum")};
}

std::vector<Type> infer_quantize(const InferContext& in) {
  expect_f32(in, 0);
  Type type = in.operand(0);
  if (type.dims.empty()) in.fail(fmt::format("it takes vectors, not {}", in.show(type)));
  const Quantizer quantizer = quantizer_of(in);
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
  type.dtype = quantizer.to;
  return {type};
}

Cost cost_quantize(const InferContext& in) {
  const auto size = static_cast<double>(row_size(in.operand(0)));
  const double bytes = size * static_cast<double>(size_of(in.attr<DType>("to")));
  return {.flop = 4 * size, .bytes = 4 * size + bytes};
}

/// In float also where the rest is evaluated in double: the integers are what is meant.
template <typename T>
void evaluate_quantize(EvalContext<T>& context) {
  Quantizer quantizer = quantizer_of(context.node);
  if (context.operands.size() > 1)
    quantizer.scale = static_cast<float>(context.operands[1]->data[0]);
  const std::int64_t k = context.operand_type(0).dims.back();
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
  const auto bytes = static_cast<double>(size_of(in.operand(0).dtype));
  return {.flop = size, .bytes = (4 + bytes) * size};
}

/// In the reference evaluation quantized values are the numbers that they stand for.
template <typename T>
void evaluate_dequantize(EvalContext<T>& context) {
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

const OpDef kOps[] = {
    {.name = "quantize",
     .summary =
         "Each vector as integers, up to `largest` in magnitude and `largest_sum` in the sum "
         "of magnitudes (0: any), that share a scale: the least possible, or the one given where "
         "it is positive.",
     .operands = {{"x"}, {"scale", OperandSpec::Arity::optional}},
     .attributes = {{"to", AttrKind::dtype, DType::qint8},
                    {"largest", AttrKind::integer, std::int64_t{127}},
                    {"largest_sum", AttrKind::integer, std::int64_t{0}}},
     .traits = static_cast<std::uint32_t>(Trait::row_wise),
     .infer = infer_quantize,
     .cost = cost_quantize,
     .evaluate_f32 = evaluate_quantize<float>,
     .evaluate_f64 = evaluate_quantize<double>},
    {.name = "dequantize",
     .summary = "The numbers that quantized vectors stand for.",
     .operands = {{"x"}},
     .traits = static_cast<std::uint32_t>(Trait::row_wise),
     .infer = infer_dequantize,
     .cost = cost_dequantize,
     .evaluate_f32 = evaluate_dequantize<float>,
     .evaluate_f64 = evaluate_dequantize<double>},
    {.name = "transpose",
     .summary = "A matrix a row, with its dimensions exchanged.",
     .operands = {{"x"}},
     .traits = Trait::row_wise | Trait::linear,
     .infer = infer_transpose,
     .cost = cost_transpose,
     .evaluate_f32 = evaluate_transpose<float>,
     .evaluate_f64 = evaluate_transpose<double>},
};

}  // namespace

std::span<const OpDef> quantize_ops() { return kOps; }

}  // namespace fuselage
