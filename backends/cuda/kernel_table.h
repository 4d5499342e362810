#pragma once

#include "backends/plan/plan.h"

namespace fuselage::cuda {

/// The kernels of the CUDA back-end. The module makes them by their names; the table needs no CUDA,
/// so that plans can be made and shown anywhere. There is no reference evaluation in it.
const KernelSet& cuda_kernels();

}  // namespace fuselage::cuda
