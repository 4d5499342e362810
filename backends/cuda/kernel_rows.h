#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/plan.h"

namespace fuselage::cuda {

/// Most words that a kernel finds the best of.
inline constexpr std::int64_t kMostBest = 64;

/// Most models whose output layers one kernel takes.
inline constexpr std::size_t kMostMembers = 32;

/// The kernels of the CUDA back-end. The module makes them by their names; the table needs no CUDA,
/// so that plans can be made and shown anywhere. There is no reference evaluation in it.
const KernelSet& cuda_kernels();

}  // namespace fuselage::cuda
