#include "backends/cuda/device/search/search_loop.h"

#include <algorithm>

namespace fuselage::cuda {

SearchLoop::SearchLoop(const DeviceSearch& search, const Stream& stream)
    : search_(search), stream_(stream) {}

SearchStatus SearchLoop::status_after(std::int32_t step) {
  const auto slot = static_cast<std::size_t>(step % kStepsAhead);
  done_[slot].wait();
  return reinterpret_cast<const SearchStatus*>(statuses_.data())[slot];
}

SearchStatus SearchLoop::run(std::int32_t sentences, std::int32_t hypotheses, std::int32_t steps,
                             const Step& step) {
  const auto ended = [](const SearchStatus& status) {
    return status.live_rows == 0 || status.error_step >= 0 || status.unknown_word >= 0;
  };
  SearchStatus status{.live_rows = sentences};
  std::int32_t bound = sentences;
  for (std::int32_t t = 0; t < steps; ++t) {
    if (t >= kStepsAhead) {
      status = status_after(t - kStepsAhead);
      if (ended(status)) break;
      bound = status.live_rows;  // never grows after the second step
    }
    step(t, bound);
    if (t == 0) bound = hypotheses;
    const auto slot = static_cast<std::size_t>(t % kStepsAhead);
    search_.enqueue_status(stream_.get(), reinterpret_cast<SearchStatus*>(statuses_.data()) + slot);
    done_[slot].record(stream_);
  }
  if (!ended(status) && steps > 0) status = status_after(steps - 1);
  return status;
}

}  // namespace fuselage::cuda
