#pragma once

#include "base/exported.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

/// The kernels of the CUDA back-end, by name. The table needs no CUDA toolkit, so that plans can be
/// made and shown anywhere; the module makes the kernels. There is no fallback to reference
/// evaluation.
FUSELAGE_EXPORTED const KernelSet& cuda_kernels();

}  // namespace fuselage::cuda
