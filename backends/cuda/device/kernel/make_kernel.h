#pragma once

#include <memory>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// A kernel that needs nothing of its node beside operands and results.
template <void (*kLaunch)(const PlannedInstruction&, const Run&)>
class PlainKernel final : public Kernel {
 public:
  PlainKernel(const PlannedInstruction&, const Binding&) {}

  void launch(const PlannedInstruction& in, const Run& run) const override { kLaunch(in, run); }
};

/// What a KernelFactory calls to make a kernel of class K.
template <class K>
std::unique_ptr<Kernel> make_kernel(const PlannedInstruction& in, const Binding& binding) {
  return std::make_unique<K>(in, binding);
}

}  // namespace fuselage::cuda
