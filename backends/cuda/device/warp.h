#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace fuselage::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kFullWarp = 0xffffffffu;

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

}  // namespace fuselage::cuda
