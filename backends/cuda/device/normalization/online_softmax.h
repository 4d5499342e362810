#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/numbers.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// The largest of some numbers, and the sum of exp(x - largest) over them (Milakov and Gimelshein
/// 2018, "Online normalizer calculation for softmax", section 3). A NaN is never the largest, and
/// makes the sum NaN.
struct MaxSum {
  float largest;
  float sum;

  /// What exponentials are taken around: the largest, but 0 where that is -infinity, so that they
  /// are 0 and not NaN.
  __device__ float center() const { return largest == -INFINITY ? 0.0f : largest; }

  __device__ void add(float x) {
    if (x > largest) {
      // Not 1 for the new largest: infinity gives NaN.
      sum = sum * expf(largest - x) + expf(x - x);
      largest = x;
    } else {
      sum += expf(x - center());
    }
  }
};

__device__ inline MaxSum shuffle_xor(const MaxSum& value, int offset) {
  return {shuffle_xor(value.largest, offset), shuffle_xor(value.sum, offset)};
}

struct JoinMaxSums {
  __device__ MaxSum operator()(const MaxSum& a, const MaxSum& b) const {
    MaxSum all{fmaxf(a.largest, b.largest), 0.0f};
    // Rounded one by one: a and b may come in either order.
    const float left = __fmul_rn(a.sum, expf(a.largest - all.center()));
    const float right = __fmul_rn(b.sum, expf(b.largest - all.center()));
    all.sum = __fadd_rn(left, right);
    return all;
  }
};

template <int kThreads>
__device__ MaxSum max_sum(const Numbers& x, std::int64_t count) {
  MaxSum own{-INFINITY, 0.0f};
  for (std::int64_t i = RowTeam<kThreads>::lane(); i < count; i += kThreads) own.add(x[i]);
  return RowTeam<kThreads>::all(own, JoinMaxSums());
}

/// y[i] = exp(x[i]) / sum exp(x), for i at distances `stride` in y; zeros where all are -infinity.
/// x and y may be the same numbers.
template <int kThreads>
__device__ void softmax_of(const Numbers& x, std::int64_t count, float* y, std::int64_t stride) {
  const MaxSum all = max_sum<kThreads>(x, count);
  const float divisor = all.sum == 0.0f ? 1.0f : all.sum;
  for (std::int64_t i = RowTeam<kThreads>::lane(); i < count; i += kThreads)
    y[i * stride] = expf(x[i] - all.center()) / divisor;
}

/// y[i] = x[i] - log sum exp(x), in the same way; -infinity where all are.
template <int kThreads>
__device__ void log_softmax_of(const Numbers& x, std::int64_t count, float* y,
                               std::int64_t stride) {
  const MaxSum all = max_sum<kThreads>(x, count);
  const float log_sum = all.sum == 0.0f ? 0.0f : logf(all.sum);
  // One after the other: their sum would round away the logarithm beside a large score.
  for (std::int64_t i = RowTeam<kThreads>::lane(); i < count; i += kThreads)
    y[i * stride] = (x[i] - all.center()) - log_sum;
}

}  // namespace fuselage::cuda
