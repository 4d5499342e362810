#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace fuselage::cuda {

// Partial results of output layers, which kernels leave in device memory.

inline constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// A value and its column. Default: the entry of an empty list, ranked after all others.
struct Ranked {
  static constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

  float value = kLowest;
  std::int32_t column = kNowhere;
};

/// Whether a ranks before b: by the larger value, then by the lower column.
__device__ inline bool before(const Ranked& a, const Ranked& b) {
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

/// The value by which a logit is ranked: -infinity for NaN.
__device__ inline float rank_of(float logit) { return fmaxf(logit, kLowest); }

/// The normalizer of softmax over some logits: their maximum, without NaN, and the sum of
/// exp(logit - max), or of exp(logit) if the maximum is -infinity.
struct SoftmaxNormalizer {
  float max = kLowest;
  float sum = 0;
};

}  // namespace fuselage::cuda
