#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// The running maximum and the sum of exp(x - max) (Milakov and Gimelshein 2018, "Online normalizer
/// calculation for softmax", section 3). A NaN makes the sum NaN and leaves the maximum.
struct OnlineSoftmax {
  float max;
  float sum;

  /// The number that is subtracted in exponents: the maximum or, for -infinity, 0, so that
  /// exponentials are 0 and not NaN.
  __device__ float shift() const { return max == -INFINITY ? 0.0f : max; }

  __device__ void add(float x) {
    if (x > max) {
      // exp(x - x) is 1, but NaN for infinity.
      sum = sum * expf(max - x) + expf(x - x);
      max = x;
    } else {
      sum += expf(x - shift());
    }
  }
};

__device__ inline OnlineSoftmax shuffle_xor(const OnlineSoftmax& value, int offset) {
  return {shuffle_xor(value.max, offset), shuffle_xor(value.sum, offset)};
}

struct MergeOnlineSoftmax {
  __device__ OnlineSoftmax operator()(const OnlineSoftmax& a, const OnlineSoftmax& b) const {
    OnlineSoftmax all{fmaxf(a.max, b.max), 0.0f};
    // Without contraction, so that the operation is commutative.
    const float left = __fmul_rn(a.sum, expf(a.max - all.shift()));
    const float right = __fmul_rn(b.sum, expf(b.max - all.shift()));
    all.sum = __fadd_rn(left, right);
    return all;
  }
};

template <int kThreads>
__device__ OnlineSoftmax online_softmax(const StridedVector& x, std::int64_t count) {
  OnlineSoftmax own{-INFINITY, 0.0f};
  for (std::int64_t i = ThreadGroup<kThreads>::thread_rank(); i < count; i += kThreads)
    own.add(x[i]);
  return ThreadGroup<kThreads>::reduce(own, MergeOnlineSoftmax());
}

/// y[i * stride] = exp(x[i]) / sum exp(x); zeros if all x are -infinity. x and y may be the same
/// memory.
template <int kThreads>
__device__ void softmax_of(const StridedVector& x, std::int64_t count, float* y,
                           std::int64_t stride) {
  const OnlineSoftmax all = online_softmax<kThreads>(x, count);
  const float divisor = all.sum == 0.0f ? 1.0f : all.sum;
  for (std::int64_t i = ThreadGroup<kThreads>::thread_rank(); i < count; i += kThreads)
    y[i * stride] = expf(x[i] - all.shift()) / divisor;
}

/// y[i * stride] = x[i] - log sum exp(x); -infinity if all x are. x and y may be the same memory.
template <int kThreads>
__device__ void log_softmax_of(const StridedVector& x, std::int64_t count, float* y,
                               std::int64_t stride) {
  const OnlineSoftmax all = online_softmax<kThreads>(x, count);
  const float log_sum = all.sum == 0.0f ? 0.0f : logf(all.sum);
  // Two subtractions: in shift() + log_sum a large shift would round the logarithm away.
  for (std::int64_t i = ThreadGroup<kThreads>::thread_rank(); i < count; i += kThreads)
    y[i * stride] = (x[i] - all.shift()) - log_sum;
}

}  // namespace fuselage::cuda
