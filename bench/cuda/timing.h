#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Work that is enqueued by a function, as a graph that is replayed. It runs once before it is
/// captured, so that libraries have loaded what they need.
class Replay {
 public:
  Replay(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue);

  /// Seconds that a replay takes on the device, of `count` in a row.
  double seconds(int count) const;
  /// So many that they take at least 3 ms.
  int enough() const;

 private:
  const Stream& stream_;
  CapturedWork work_;
};

struct Quartiles {
  double first = 0, median = 0, third = 0;
};
Quartiles quartiles(std::vector<double> values);

/// Times of a baseline and a candidate, and how many times as long the baseline takes.
struct DeviceComparison {
  Quartiles baseline, candidate, ratio;
};

/// Runs both in the order baseline, candidate, candidate, baseline, `rounds` times, so that a drift
/// of the device's clocks hits both alike; a ratio is that of one round.
DeviceComparison compare(const Replay& baseline, const Replay& candidate, int rounds);

}  // namespace fuselage::cuda
