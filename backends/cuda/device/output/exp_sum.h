#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/output/warp_best.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

inline constexpr float kLog2E = 1.44269504088896340736f;

/// What exponentials are relative to: the largest logit, or 0 while that is -infinity.
__device__ inline float center_of(float top) { return top == kLowest ? 0.0f : top; }

__device__ inline float exp_below(float x, float center) {
  // Not as one x * log2(e) - center * log2(e), which overflows and loses what is small beside large
  // logits.
  return fast_exp2((x - center) * kLog2E);
}

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// Sums of parts of a row: part i is at parts[i * stride].
struct PartialSums {
  const ExpSum* parts = nullptr;
  std::int64_t stride = 1;
  std::int32_t count = 0;
};

/// What they come to, for all lanes of a warp: in the same order however they were made.
__device__ inline ExpSum total_of(const PartialSums& sums) {
  ExpSum total;
  for (std::int32_t i = lane_of_thread(); i < sums.count; i += kWarp)
    total.top = fmaxf(total.top, sums.parts[i * sums.stride].top);
  total.top = combine_lanes<kWarp>(total.top, Larger());
  const float center = center_of(total.top);
  for (std::int32_t i = lane_of_thread(); i < sums.count; i += kWarp) {
    const ExpSum part = sums.parts[i * sums.stride];
    // Rounded as written in each kernel, so that their results are the same.
    total.sum = __fmaf_rn(part.sum, exp_below(part.top, center), total.sum);
  }
  total.sum = combine_lanes<kWarp>(total.sum, Sum());
  return total;
}

}  // namespace fuselage::cuda
