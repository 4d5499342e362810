#include "backends/cuda/device/kernel/kernel_registry.h"

#include <vector>

namespace fuselage::cuda {
namespace {

/// A local static, since constants of other files add to it before main().
std::vector<KernelEntry>& registered() {
  static std::vector<KernelEntry> all;
  return all;
}

}  // namespace

RegisterKernels::RegisterKernels(std::initializer_list<KernelEntry> entries) {
  registered().insert(registered().end(), entries.begin(), entries.end());
}

std::span<const KernelEntry> kernel_registry() { return registered(); }

}  // namespace fuselage::cuda
