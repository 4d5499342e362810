#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// Lanes of a warp that share a dot product of vectors of so many elements.
inline int lanes_for_dot(std::int64_t width) { return width <= 128 ? 8 : kWarpSize; }

/// The dot product of a and b, for each of kLanes adjacent lanes. All lanes of the warp must call
/// it.
template <int kLanes>
__device__ float dot(const StridedVector& a, const StridedVector& b, std::int64_t width) {
  float sum = 0;
  for (std::int64_t c = threadIdx.x % kLanes; c < width; c += kLanes) sum = fmaf(a[c], b[c], sum);
  return reduce_lanes<kLanes>(sum, Sum());
}

/// Four 8-bit or two 16-bit integers in a 32-bit word. dot() adds a dot product of words to `sum`.
struct PackedInt8 {
  static constexpr int kPerWord = 4;
  static __device__ int dot(int a, int b, int sum) { return __dp4a(a, b, sum); }
};
struct PackedInt16 {
  static constexpr int kPerWord = 2;
  static __device__ int dot(int a, int b, int sum) {
    return sum + static_cast<std::int16_t>(a) * static_cast<std::int16_t>(b) +
           (a >> 16) * (b >> 16);
  }
};

/// An integer sum times the scales of its column and row. All back-ends share this order of
/// operations.
__device__ inline float scaled(int sum, float column, float row) {
  return __fmul_rn(__fmul_rn(static_cast<float>(sum), column), row);
}

}  // namespace fuselage::cuda
