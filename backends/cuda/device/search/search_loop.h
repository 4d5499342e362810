#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/device/search/beam_search.h"

namespace fuselage::cuda {

/// Puts the steps of a search into a stream until no hypothesis lives. The host stays some steps
/// ahead of the device, so that this never waits, and learns from the status of past steps how few
/// hypotheses are left; those that it then has put in too many do nothing.
class SearchLoop {
 public:
  /// Puts step number `step` into the stream, in which no more than `hypotheses` live.
  using Step = std::function<void(std::int32_t step, std::int32_t hypotheses)>;

  /// Both must outlive the loop.
  SearchLoop(const DeviceSearch& search, const Stream& stream);

  /// Runs the search that has begun: `sentences` hypotheses first, then up to `hypotheses`, at most
  /// `steps` steps. Returns when the last step is done that counts.
  SearchStatus run(std::int32_t sentences, std::int32_t hypotheses, std::int32_t steps,
                   const Step& step);

 private:
  /// Steps that the host is ahead. A few cover the time that a launch takes.
  static constexpr std::int32_t kAhead = 4;

  /// How far the search was after a step that is done or waited for.
  SearchStatus status_after(std::int32_t step);

  const DeviceSearch& search_;
  const Stream& stream_;
  PinnedMemory statuses_{kAhead * sizeof(SearchStatus)};
  std::array<Event, kAhead> done_;
};

}  // namespace fuselage::cuda
