#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

/// All lanes of a warp take part.
inline constexpr unsigned kFullWarpMask = 0xffffffffu;

/// The thread's lane in its warp, in a one-dimensional block.
__device__ inline std::int32_t lane_id() {
  return static_cast<std::int32_t>(threadIdx.x) % kWarpSize;
}

template <typename T>
requires std::is_arithmetic_v<T> __device__ T shuffle_xor(T value, int offset) {
  return __shfl_xor_sync(kFullWarpMask, value, offset);
}

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Reduces the values of kLanes adjacent lanes of a warp and returns the result to each. `combine`
/// must be commutative to the last bit. All lanes of the warp must call it. A type that is not
/// arithmetic needs its own shuffle_xor().
template <int kLanes, typename T, typename Combine>
__device__ T reduce_lanes(T value, Combine combine) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    value = combine(value, shuffle_xor(value, offset));
  return value;
}

/// kThreads threads that share a row or another item: warps of a one-dimensional block. A group of
/// more than one warp must be the whole block.
template <int kThreads>
struct ThreadGroup {
  static_assert(kThreads % kWarpSize == 0);

  /// The thread's number in the group.
  __device__ static int thread_rank() { return static_cast<int>(threadIdx.x) % kThreads; }

  /// The group's number in the grid.
  __device__ static std::int64_t index() {
    return (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kThreads;
  }

  /// Reduces the values of the group and returns the result to each thread, in an order that does
  /// not depend on the group. All threads of the group must call it.
  template <typename T, typename Combine>
  __device__ static T reduce(T value, Combine combine) {
    value = reduce_lanes<kWarpSize>(value, combine);
    if constexpr (kThreads > kWarpSize) {
      __shared__ T warp_values[kThreads / kWarpSize];
      __syncthreads();  // A thread may still read the values of the last call.
      if (threadIdx.x % kWarpSize == 0) warp_values[threadIdx.x / kWarpSize] = value;
      __syncthreads();
      value = warp_values[0];
#pragma unroll
      for (int i = 1; i < kThreads / kWarpSize; ++i) value = combine(value, warp_values[i]);
    }
    return value;
  }
};

}  // namespace fuselage::cuda
