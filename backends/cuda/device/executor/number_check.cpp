#include "backends/cuda/device/executor/number_check.h"

#include <cmath>
#include <limits>
#include <vector>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

template <typename T>
std::vector<T> copy_of(const T* data, std::size_t count) {
  std::vector<T> copy(count);
  expect_success(cudaMemcpy(copy.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost),
                 "copy of values to check");
  return copy;
}

/// The new rows of an f32 result; empty for other results.
std::vector<float> floats_of(const Graph& graph, const PlannedInstruction& in, const Run& run,
                             std::size_t result) {
  const ValueId id = graph.node(in.node).results[result];
  const BufferView& view = in.results[result];
  const Buffer& buffer = run.plan_buffers[view.buffer];
  if (graph.value(id).type.dtype != DType::f32 || buffer.domain != in.domain) return {};
  const DeviceCounts counts = copy_of(run.rows[in.domain].counts, 1)[0];
  const std::int64_t first = buffer.newest_only ? 0 : counts.first;
  const auto* begin =
      reinterpret_cast<const float*>(run.buffers[view.buffer]) + view.offset + first * view.stride;
  return copy_of(begin, static_cast<std::size_t>(counts.live * view.cols));
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
