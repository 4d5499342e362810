#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/device/search/beam_search.h"

namespace fuselage::cuda {

/// Enqueues the steps of a search until no hypothesis lives. The host stays some steps ahead, so
/// that the device never waits, and reads the number of live hypotheses from the status of past
/// steps. Surplus steps have no effect.
class SearchLoop {
 public:
  /// Enqueues step number `step`, with at most `hypotheses` live hypotheses.
  using Step = std::function<void(std::int32_t step, std::int32_t hypotheses)>;

  /// Both must outlive the loop.
  SearchLoop(const DeviceSearch& search, const Stream& stream);

  /// Runs a search after DeviceSearch::begin(): `sentences` hypotheses in the first step, then up
  /// to `hypotheses`, at most `steps` steps. Waits for the last step with an effect.
  SearchStatus run(std::int32_t sentences, std::int32_t hypotheses, std::int32_t steps,
                   const Step& step);

 private:
  /// Steps that the host is ahead of the device, to hide the latency of launches.
  static constexpr std::int32_t kStepsAhead = 4;

  /// The status after a step. Waits for the step.
  SearchStatus status_after(std::int32_t step);

  const DeviceSearch& search_;
  const Stream& stream_;
  PinnedMemory statuses_{kStepsAhead * sizeof(SearchStatus)};
  std::array<Event, kStepsAhead> done_;
};

}  // namespace fuselage::cuda
