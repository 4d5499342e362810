#include "backends/cuda/device/executor/number_check.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/cuda/device/kernel/rounded_results.h"
#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cuda {
namespace {

template <typename T>
std::vector<T> copy_of(const T* data, std::size_t count) {
  std::vector<T> copy(count);
  expect_success(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost),
                 "copy of values to check");
  return copy;
}

/// The numbers of `words`, each of which has two.
std::vector<float> halves_of(const std::vector<std::uint32_t>& words, DType type) {
  const auto to_float = type == DType::bf16 ? bfloat16_to_float : half_to_float;
  std::vector<float> numbers;
  for (const std::uint32_t word : words) {
    numbers.push_back(to_float(static_cast<std::uint16_t>(word)));
    numbers.push_back(to_float(static_cast<std::uint16_t>(word >> 16)));
  }
  return numbers;
}

/// The new rows of a result of floats; empty for other results.
std::vector<float> floats_of(const Graph& graph, const PlannedInstruction& in, const Run& run,
                             std::size_t result) {
  const Node& node = graph.node(in.node);
  const DType dtype = graph.value(node.results[result]).type.dtype;
  const BufferView& view = in.results[result];
  const Buffer& buffer = run.plan_buffers[view.buffer];
  if ((dtype != DType::f32 && !is_half(dtype)) || buffer.domain != in.domain) return {};
  if (!has_reader(graph, node.results[result])) return {};
  const DeviceCounts counts = copy_of(run.rows[in.domain].counts, 1)[0];
  const std::int64_t first = buffer.newest_only ? 0 : counts.first;
  const std::byte* const begin =
      run.buffers[view.buffer] +
      (view.offset + first * view.stride) * static_cast<std::int64_t>(sizeof(float));
  const auto count = static_cast<std::size_t>(counts.live * view.cols);
  if (dtype == DType::f32) return copy_of(reinterpret_cast<const float*>(begin), count);
  return halves_of(copy_of(reinterpret_cast<const std::uint32_t*>(begin), count), dtype);
}

}  // namespace

void NumberCheck::check_results(const Graph& graph, const PlannedInstruction& in, const Run& run) {
  if (!nan_.empty()) return;
  stream_.synchronize();
  for (std::size_t i = 0; i < graph.node(in.node).results.size() && i < in.results.size(); ++i)
    for (const float number : floats_of(graph, in, run, i)) {
      if (std::isfinite(number)) continue;
      const bool is_negative_infinity = number == -std::numeric_limits<float>::infinity();
      std::string& name = is_negative_infinity ? infinity_ : nan_;
      if (name.empty()) name = graph.describe(in.node);
    }
}

}  // namespace fuselage::cuda
