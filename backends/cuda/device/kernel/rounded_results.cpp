#include "backends/cuda/device/kernel/rounded_results.h"

#include <algorithm>

#include "backends/cuda/device/kernel/operands.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/precision/quantize.h"

namespace fuselage::cuda {

bool has_reader(const Graph& graph, ValueId value) {
  return !graph.value(value).uses.empty() || graph.is_output(value);
}

bool stores_floats(const Graph& graph, const Node& node, std::size_t result) {
  const Dims rounded = quantized_results(node);
  return std::ranges::count(rounded, static_cast<std::int64_t>(result)) == 0 ||
         has_reader(graph, node.results[result]);
}

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
  for (std::size_t i = 0; i < own; ++i)
    stores_.push_back(stores_floats(binding.graph, binding.node, i));
}

FloatsOut RoundedResults::out(const PlannedInstruction& in, const Run& run,
                              std::size_t result) const {
  FloatsOut out{.floats = rows_out(in, run, result),
                .rounded = rounded_out(in, run, result),
                .is_bf16 = is_bf16_};
  if (!stores_[result]) out.floats = {};
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
