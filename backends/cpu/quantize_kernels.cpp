#include "backends/cpu/quantize_kernels.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/operands.h"
#include "base/tensor.h"
#include "ops/quantize.h"

namespace fuselage::cpu {
namespace {

/// The rows as vectors: leading dimensions count as further rows.
struct Vectors {
  RowsIn x;
  RowsOut out;
  std::size_t count = 0, k = 0;
};

Vectors vectors_of(const Instruction& in, const Run& run) {
  Vectors vectors{.x = rows_in(in, run, 0),
                  .out = rows_out(in, run),
                  .count = rows_of(in, run) * static_cast<std::size_t>(in.vectors)};
  vectors.k = vectors.x.columns / static_cast<std::size_t>(in.vectors);
  if (in.vectors > 1) {
    vectors.x.columns = vectors.x.stride = vectors.k;
    vectors.out.stride = cols_of(in) / static_cast<std::size_t>(in.vectors);
  }
  return vectors;
}

Quantizer quantizer_of(const Instruction& in, const Run& run) {
  Quantizer quantizer = in.quantizer;
  if (in.operands.size() > 1) quantizer.scale = *plain_in<const float>(in, run, 1);
  return quantizer;
}

}  // namespace

void bind_quantize(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  in.vectors = row_size(x) / x.dims.back();
  in.quantizer = quantizer_of(binding.node);
}

void run_quantize(const Instruction& in, const Run& run) {
  const Vectors vectors = vectors_of(in, run);
  run.kernels.quantize_rows(quantizer_of(in, run), vectors.x, vectors.count, vectors.k,
                            vectors.out);
}

void run_quantize_each(const Instruction& in, const Run& run) {
  const Vectors vectors = vectors_of(in, run);
  const Quantizer quantizer = quantizer_of(in, run);
  const auto k = static_cast<std::int64_t>(vectors.k);
  for (std::size_t r = 0; r < vectors.count; ++r) {
    const float* x = row_of(vectors.x, r, vectors.k);
    quantize_vector(quantizer, x, k, quantization_scale(quantizer, x, k),
                    reinterpret_cast<std::byte*>(vectors.out.data + r * vectors.out.stride));
  }
}

void bind_dequantize(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  in.vectors = row_size(x) / x.dims.back();
  in.quantizer = {.to = x.dtype};
}

void run_dequantize(const Instruction& in, const Run& run) {
  const Vectors vectors = vectors_of(in, run);
  const std::size_t k = cols_of(in) / static_cast<std::size_t>(in.vectors);
  for (std::size_t r = 0; r < vectors.count; ++r)
    dequantize_vector(in.quantizer.to,
                      reinterpret_cast<const std::byte*>(row_of(vectors.x, r, vectors.x.columns)),
                      static_cast<std::int64_t>(k), vectors.out.data + r * vectors.out.stride);
}

void run_cast(const Instruction& in, const Run& run) {
  const Node& node = in.graph->node(in.node);
  const Type& x = in.graph->value(node.operands[0]).type;
  const auto to = node.attr<DType>("to");
  const std::size_t size = rows_of(in, run) * static_cast<std::size_t>(row_size(x));
  const auto* floats = plain_in<const float>(in, run, 0);
  const auto* halves = plain_in<const std::uint16_t>(in, run, 0);
  if (x.dtype == to)
    std::memcpy(result_at<std::byte>(in, run), floats, size * size_of(to));
  else if (is_half(to))
    std::transform(floats, floats + size, result_at<std::uint16_t>(in, run),
                   to == DType::bf16 ? float_to_bfloat16 : float_to_half);
  else
    std::transform(halves, halves + size, result_at(in, run),
                   x.dtype == DType::bf16 ? bfloat16_to_float : half_to_float);
}

}  // namespace fuselage::cpu
