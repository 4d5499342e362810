#pragma once

#include <string>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Looks at the results of instructions, one after the other, for the first that is not finite:
/// with a NaN or +infinity or, if there is none, with -infinity, which scores may have for good
/// reason.
class NumberCheck {
 public:
  explicit NumberCheck(const Stream& stream) : stream_(stream) {}

  /// Waits for the instruction and looks at its floats.
  void look(const Graph& graph, const PlannedInstruction& in, const Run& run);

  /// The node of that instruction; empty if all numbers were finite.
  const std::string& culprit() const { return nan_.empty() ? infinity_ : nan_; }

 private:
  const Stream& stream_;
  std::string nan_, infinity_;
};

}  // namespace fuselage::cuda
