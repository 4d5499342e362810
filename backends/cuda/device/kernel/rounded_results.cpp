#include "backends/cuda/device/kernel/rounded_results.h"

#include "backends/cuda/device/kernel/operands.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/quantize.h"

namespace fuselage::cuda {

RoundedResults::RoundedResults(const PlannedInstruction& in, const Binding& binding) {
  const Dims rounded = quantized_results(binding.node);
  const std::size_t own = in.results.size() - rounded.size();
  rounded_as_.assign(own, kNone);
  for (std::size_t i = 0; i < rounded.size(); ++i)
    rounded_as_[static_cast<std::size_t>(rounded[i])] = static_cast<std::int32_t>(own + i);
  if (!rounded.empty()) {
    const DType to = binding.node.as<op::Quantization>().to;
    check(is_half(to), "rounded results: a kernel that quantizes to integers");
    is_bf16_ = to == DType::bf16;
  }
  for (std::size_t i = 0; i < own; ++i) {
    const ValueId result = binding.node.results[i];
    is_read_.push_back(rounded_as_[i] == kNone || !binding.graph.value(result).uses.empty() ||
                       binding.graph.is_output(result));
  }
}

FloatsOut RoundedResults::out(const PlannedInstruction& in, const Run& run,
                              std::size_t result) const {
  FloatsOut out{.floats = rows_out(in, run, result),
                .rounded = rounded_out(in, run, result),
                .is_bf16 = is_bf16_};
  if (!is_read_[result]) out.floats = {};
  return out;
}

ResultOf<std::uint16_t> RoundedResults::rounded_out(const PlannedInstruction& in, const Run& run,
                                                    std::size_t result) const {
  const std::int32_t number = rounded_as_[result];
  if (number == kNone) return {};
  return halves_out(in, run, static_cast<std::size_t>(number));
}

ResultOf<std::uint16_t> halves_out(const PlannedInstruction& in, const Run& run,
                                   std::size_t result) {
  const RowsOut words = rows_out(in, run, result);
  return {reinterpret_cast<std::uint16_t*>(words.data), 2 * words.stride, words.first};
}

}  // namespace fuselage::cuda
