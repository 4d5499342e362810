#pragma once

#include <span>

#include "backends/cuda/device/kernel/kernel_registry.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

// Kernels that call the reference evaluation of any op, for tests of executables. They run on the
// host, in the order of their stream, and need device memory that the host can read.

/// A kernel table with these kernels only.
const KernelSet& reference_kernels();

/// Their registry.
std::span<const KernelEntry> reference_registry();

}  // namespace fuselage::cuda
