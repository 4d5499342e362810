#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// A replayable graph of the work that a function enqueues. The work runs once before the capture,
/// so that libraries are loaded.
class Replay {
 public:
  Replay(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue);

  /// Seconds per replay on the device, over `count` consecutive replays.
  double seconds(int count) const;
  /// A number of replays that takes at least 3 ms.
  int enough() const;

 private:
  const Stream& stream_;
  CapturedWork work_;
};

struct Quartiles {
  double first = 0, median = 0, third = 0;
};
Quartiles quartiles(std::vector<double> values);

/// Times of a baseline and a candidate, and the ratio of the baseline's time to the candidate's.
struct DeviceComparison {
  Quartiles baseline, candidate, ratio;
};

/// Runs baseline, candidate, candidate, baseline, `rounds` times, so that a drift of the device's
/// clocks affects both alike. Each round gives a ratio.
DeviceComparison compare(const Replay& baseline, const Replay& candidate, int rounds);

}  // namespace fuselage::cuda
