#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// Sums of exponentials for log-softmax, in parts of a row that are merged in a fixed order.

inline constexpr float kLog2E = 1.44269504088896340736f;

/// The number that is subtracted in exponents: the maximum or, for -infinity, 0.
__device__ inline float shift_of(float max) { return max == kLowest ? 0.0f : max; }

__device__ inline float exp_relative(float x, float shift) {
  // Not x * log2(e) - shift * log2(e), which overflows and cancels for large logits.
  return fast_exp2((x - shift) * kLog2E);
}

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Adds logits with the maximum `max_of_logits`. The sum is rescaled once, by
/// exp(old max - new max).
template <std::int32_t kCount>
__device__ void add_logits(SoftmaxNormalizer& normalizer, const float (&logits)[kCount],
                           float max_of_logits) {
  const float max = fmaxf(normalizer.max, max_of_logits);
  const float shift = shift_of(max);
  float sums[2] = {normalizer.sum * exp_relative(normalizer.max, shift), 0};
#pragma unroll
  for (std::int32_t i = 0; i < kCount; ++i) sums[i % 2] += exp_relative(logits[i], shift);
  normalizer = {max, sums[0] + sums[1]};
}

/// The normalizers of parts of a row: part i is at parts[i * stride].
struct PartialNormalizers {
  const SoftmaxNormalizer* parts = nullptr;
  std::int64_t stride = 1;
  std::int32_t count = 0;
};

/// The normalizer of a row, for all lanes of a warp. The order of the sum depends on `count` alone.
/// A lane has 8 loads in flight.
__device__ inline SoftmaxNormalizer merge_normalizers(const PartialNormalizers& partial) {
  constexpr std::int32_t kInFlight = 8;
  const auto for_all = [&](const auto& add) {
    for (std::int32_t first = lane_id(); first < partial.count; first += kInFlight * kWarpSize) {
      SoftmaxNormalizer parts[kInFlight];
#pragma unroll
      for (std::int32_t i = 0; i < kInFlight; ++i)
        if (first + i * kWarpSize < partial.count)
          parts[i] = partial.parts[(first + i * kWarpSize) * partial.stride];
#pragma unroll
      for (std::int32_t i = 0; i < kInFlight; ++i)
        if (first + i * kWarpSize < partial.count) add(parts[i]);
    }
  };
  SoftmaxNormalizer total;
  for_all([&](const SoftmaxNormalizer& part) { total.max = fmaxf(total.max, part.max); });
  total.max = reduce_lanes<kWarpSize>(total.max, Max());
  const float shift = shift_of(total.max);
  for_all([&](const SoftmaxNormalizer& part) {
    // An explicit fma, so that all kernels give the same bits.
    total.sum = __fmaf_rn(part.sum, exp_relative(part.max, shift), total.sum);
  });
  total.sum = reduce_lanes<kWarpSize>(total.sum, Sum());
  return total;
}

}  // namespace fuselage::cuda
