#include "backends/cuda/device/kernel/kernel_registry.h"

#include <vector>

namespace fuselage::cuda {
namespace {

/// A local static, since constants of other files add to it before main().
std::vector<KernelEntry>& entries() {
  static std::vector<KernelEntry> all;
  return all;
}

}  // namespace

RegisterKernels::RegisterKernels(std::initializer_list<KernelEntry> added) {
  entries().insert(entries().end(), added.begin(), added.end());
}

std::span<const KernelEntry> kernel_registry() { return entries(); }

}  // namespace fuselage::cuda
