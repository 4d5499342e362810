#include "backends/cpu/kernels/quantize_kernels.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/runtime/operands.h"
#include "backends/plan/refusals.h"
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

void quantize_each(const Quantizer& quantizer, const Vectors& vectors) {
  const auto k = static_cast<std::int64_t>(vectors.k);
  for (std::size_t r = 0; r < vectors.count; ++r) {
    const float* x = row_of(vectors.x, r, vectors.k);
    quantize_vector(quantizer, x, k, quantization_scale(quantizer, x, k),
                    reinterpret_cast<std::byte*>(vectors.out.data + r * vectors.out.stride));
  }
}

/// The vectors of one row of a result.
Vectors vectors_of(const Instruction& in, const Run& run, const QuantizedResult& result,
                   std::int64_t row) {
  const BufferView& x = in.results[result.of];
  const BufferView& out = in.results[result.at];
  Vectors vectors{.count = result.vectors, .k = static_cast<std::size_t>(x.cols) / result.vectors};
  vectors.x = {
      .data = data_at<const float>(x, run, row), .stride = vectors.k, .columns = vectors.k};
  vectors.out = {data_at<float>(out, run, row),
                 static_cast<std::size_t>(out.cols) / result.vectors};
  return vectors;
}

/// Rows first … last - 1 of those that the instruction computes.
void quantize_rows_of(const Instruction& in, const Run& run, const QuantizedResult& result,
                      std::size_t first, std::size_t last) {
  const std::int64_t begin = first_row(run, domain_of(in.results[result.at], run));
  for (std::size_t r = first; r < last; ++r) {
    const Vectors vectors = vectors_of(in, run, result, begin + static_cast<std::int64_t>(r));
    if (result.vectorized)
      run.kernels.quantize_rows(in.quantizer, vectors.x, vectors.count, vectors.k, vectors.out);
    else
      quantize_each(in.quantizer, vectors);
  }
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
  quantize_each(quantizer_of(in, run), vectors_of(in, run));
}

void bind_quantized_results(Instruction& in, const Binding& binding) {
  const Dims numbers = quantized_results(binding.node);
  if (numbers.empty()) return;
  in.quantizer = quantizer_of(binding.node);
  const bool vectorized = refuse_quantize(binding.graph, binding.node).empty();
  const std::size_t own = in.results.size() - numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Type& type = binding.graph.value(binding.node.results[own + i]).type;
    in.quantized.push_back({.of = static_cast<std::size_t>(numbers[i]),
                            .at = own + i,
                            .vectors = static_cast<std::size_t>(row_size(type) / type.dims.back()),
                            .vectorized = vectorized});
  }
}

void quantize_results(const Instruction& in, const Run& run, std::size_t first, std::size_t last) {
  for (const QuantizedResult& result : in.quantized) quantize_rows_of(in, run, result, first, last);
}

void quantize_results(const Instruction& in, const Run& run) {
  for (const QuantizedResult& result : in.quantized) {
    const DomainId domain = domain_of(in.results[result.at], run);
    quantize_rows_of(in, run, result, 0, static_cast<std::size_t>(row_count(run, domain)));
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
