#include "backends/cpu/kernels/quantized_results.h"

#include "backends/cpu/simd/rows/quantize_each.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage::cpu {

QuantizedResults::QuantizedResults(const PlannedInstruction& in, const Binding& binding) {
  for (const ValueId result : binding.node.results)
    is_read_.push_back(!binding.graph.value(result).uses.empty() ||
                       binding.graph.is_output(result));
  const Dims numbers = quantized_results(binding.node);
  if (numbers.empty()) return;
  quantizer_ = quantizer_of(binding.node);
  vectorized_ = refuse_quantize(binding.graph, binding.node).empty();
  const std::size_t own = in.results.size() - numbers.size();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    results_.push_back(
        {.of = static_cast<std::size_t>(numbers[i]),
         .at = own + i,
         .vectors = vectors_in(binding.graph.value(binding.node.results[own + i]).type)});
}

void QuantizedResults::quantize_block(const PlannedInstruction& in, const Run& run,
                                      std::size_t first, std::size_t begin, std::size_t end) const {
  for (const Result& result : results_)
    quantize(result, in, run, place(result.of, first, begin), begin, end);
}

void QuantizedResults::quantize(const PlannedInstruction& in, const Run& run) const {
  for (const Result& result : results_)
    quantize(result, in, run, 0, 0,
             static_cast<std::size_t>(row_count(run, domain_of(in.results[result.at], run))));
}

void QuantizedResults::quantize(const Result& result, const PlannedInstruction& in, const Run& run,
                                std::size_t from, std::size_t begin, std::size_t end) const {
  const BufferView& x = in.results[result.of];
  const BufferView& out = in.results[result.at];
  const std::size_t k = static_cast<std::size_t>(x.cols) / result.vectors;
  const std::size_t stride = static_cast<std::size_t>(out.cols) / result.vectors;
  const std::int64_t first = first_row(run, domain_of(out, run));
  for (std::size_t r = begin; r < end; ++r, ++from) {
    const RowsIn vectors{
        .data = data_at<const float>(x, run, first + static_cast<std::int64_t>(from)),
        .stride = k,
        .columns = k};
    const RowsOut to{data_at<float>(out, run, first + static_cast<std::int64_t>(r)), stride};
    if (vectorized_)
      run.kernels.quantize_rows(quantizer_, vectors, result.vectors, k, to);
    else
      quantize_each(quantizer_, vectors, result.vectors, k, to);
  }
}

}  // namespace fuselage::cpu
