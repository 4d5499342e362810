#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// A kernel of kernel_table.cpp, by its name there, and the function that makes it for a node.
struct KernelEntry {
  std::string_view name;
  std::unique_ptr<Kernel> (*make)(const PlannedInstruction& in, const Binding& binding);
};

/// All kernels of the module. Each `*_kernels.cpp` file registers its own.
std::span<const KernelEntry> kernel_registry();

/// Adds kernels to the registry: a constant of a `*_kernels.cpp` file.
struct RegisterKernels {
  RegisterKernels(std::initializer_list<KernelEntry> entries);
};

/// KernelEntry::make for a kernel class.
template <class K>
std::unique_ptr<Kernel> make_kernel(const PlannedInstruction& in, const Binding& binding) {
  return std::make_unique<K>(in, binding);
}

/// A kernel without state: a launch function that reads operands and results alone.
template <void (*kLaunch)(const PlannedInstruction&, const Run&)>
class StatelessKernel final : public Kernel {
 public:
  StatelessKernel(const PlannedInstruction&, const Binding&) {}

  void launch(const PlannedInstruction& in, const Run& run) const override { kLaunch(in, run); }
};

}  // namespace fuselage::cuda
