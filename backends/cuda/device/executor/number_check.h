#pragma once

#include <string>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Finds the first result of a run that is not finite: the first with a NaN or +infinity or, if
/// there is none, the first with -infinity, which is a valid score.
class NumberCheck {
 public:
  explicit NumberCheck(const Stream& stream) : stream_(stream) {}

  /// Waits for the instruction and checks its results of floats, rounded ones included.
  void check_results(const Graph& graph, const PlannedInstruction& in, const Run& run);

  /// The node with the first such result; empty if all numbers were finite.
  const std::string& culprit() const { return nan_.empty() ? infinity_ : nan_; }

 private:
  const Stream& stream_;
  std::string nan_, infinity_;
};

}  // namespace fuselage::cuda
