#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/warp.h"

namespace fuselage::cuda {

/// kThreads threads that share a row or the like: a warp, or the whole block, of which there may be
/// one in x alone.
template <int kThreads>
struct RowTeam {
  static_assert(kThreads % kWarp == 0);

  /// Which of the team the thread is.
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kThreads; }

  /// Number of the team in the grid.
  __device__ static std::int64_t number() {
    return (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kThreads;
  }

  /// The value of `combine` over the team, for each of it and in the same order for any row. The
  /// whole team must come.
  template <typename T, typename Combine>
  __device__ static T all(T value, Combine combine) {
    value = combine_lanes<kWarp>(value, combine);
    if constexpr (kThreads > kWarp) {
      __shared__ T parts[kThreads / kWarp];
      __syncthreads();  // Somebody may still read those of the last call.
      if (threadIdx.x % kWarp == 0) parts[threadIdx.x / kWarp] = value;
      __syncthreads();
      value = parts[0];
#pragma unroll
      for (int i = 1; i < kThreads / kWarp; ++i) value = combine(value, parts[i]);
    }
    return value;
  }
};

}  // namespace fuselage::cuda
