#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Lanes of a warp.
inline constexpr int kWarp = 32;
/// The mask that says that all of them take part.
inline constexpr unsigned kFullWarp = 0xffffffffu;

/// The lane of a thread in a one-dimensional block.
__device__ inline std::int32_t lane_of_thread() {
  return static_cast<std::int32_t>(threadIdx.x) % kWarp;
}

}  // namespace fuselage::cuda
