#pragma once

#include <span>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/plan/plan.h"

namespace fuselage::cuda {

// Kernels for all ops out of their reference evaluation, for what runs kernels. They run on the
// host, between other work of their stream, and so need memory that both sides see.

/// A table with nothing but these.
const KernelSet& reference_kernels();

std::span<const KernelFactory> reference_factories();

}  // namespace fuselage::cuda
