#include "backends/cpu/kernels/kernel_registry.h"

#include "backends/cpu/kernels/kernel_families.h"

namespace fuselage::cpu {

KernelSet kernel_set(std::span<const KernelEntry> first) {
  KernelSet kernels;
  const auto add = [&](std::span<const KernelEntry> entries) {
    for (const KernelEntry& entry : entries) kernels.push_back(&entry);
  };
  add(first);
  for (const KernelFamily family : kKernelFamilies) add(family());
  return kernels;
}

}  // namespace fuselage::cpu
