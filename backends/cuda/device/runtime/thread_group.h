#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backends/cuda/device/runtime/warp.h"

namespace fuselage::cuda {

/// The lane of a thread in a one-dimensional block.
__device__ inline std::int32_t lane_of_thread() {
  return static_cast<std::int32_t>(threadIdx.x) % kWarp;
}

template <typename T>
requires std::is_arithmetic_v<T> __device__ T shuffle_xor(T value, int offset) {
  return __shfl_xor_sync(kFullWarp, value, offset);
}

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// The value of `combine`, which is commutative to the last bit, over each kLanes lanes of a warp
/// side by side, for all of them. Every lane of the warp must come. What is no number has a
/// shuffle_xor() of its own.
template <int kLanes, typename T, typename Combine>
__device__ T combine_lanes(T value, Combine combine) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    value = combine(value, shuffle_xor(value, offset));
  return value;
}

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
