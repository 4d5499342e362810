#pragma once

#include <span>

#include "backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

/// The kernels that a plan chooses from, best first: the caller's kernels `first`, then the
/// back-end's, the reference evaluation last. All are of type KernelEntry. `first` must outlive the
/// plan.
KernelSet kernel_set(std::span<const KernelEntry> first = {});

}  // namespace fuselage::cpu
