#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

// Products of words of integers, and what sums of them stand for.

/// A word of either side, of 4 integers or of 2.
struct Bytes {
  static constexpr int kPerWord = 4;
  static __device__ int dot(int a, int b, int sum) { return __dp4a(a, b, sum); }
};
struct Shorts {
  static constexpr int kPerWord = 2;
  static __device__ int dot(int a, int b, int sum) {
    return sum + static_cast<std::int16_t>(a) * static_cast<std::int16_t>(b) +
           (a >> 16) * (b >> 16);
  }
};

/// A sum times the scales of its column and row. All back-ends share this order of operations.
__device__ inline float scaled(int sum, float column, float row) {
  return __fmul_rn(__fmul_rn(static_cast<float>(sum), column), row);
}

}  // namespace fuselage::cuda
