#pragma once

#include <vector>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// The factories of all kernels that the table kernel_rows.h names.
std::vector<KernelFactory> kernel_factories();

}  // namespace fuselage::cuda
