#pragma once

#include <memory>

#include "fuselage/backends/cpu/runtime/kernel.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

/// A kernel without state: it needs only operands and results.
template <void (*kRun)(const PlannedInstruction&, const Run&)>
class PlainKernel final : public Kernel {
 public:
  PlainKernel(const PlannedInstruction&, const Binding&) {}

  void run(const PlannedInstruction& in, const Run& run) const override { kRun(in, run); }
};

/// The factory function of a KernelEntry for kernel class K.
template <class K>
std::unique_ptr<Kernel> make_kernel(const PlannedInstruction& in, const Binding& binding) {
  return std::make_unique<K>(in, binding);
}

}  // namespace cpu
}  // namespace fuselage
