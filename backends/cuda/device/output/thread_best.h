#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/output/warp_best.h"

namespace fuselage::cuda {

/// The k best that a thread has met, sorted, in shared memory: those of a warp's threads are side
/// by side.
class ThreadBest {
 public:
  /// `lists` has room for k of each thread of the warp.
  __device__ ThreadBest(Ranked* lists, std::int32_t k) : list_(lists + lane_of_thread()), k_(k) {
    for (std::int32_t rank = 0; rank < k; ++rank) at(rank) = Ranked();
  }

  /// What must be beaten to be among them.
  __device__ const Ranked& last() const { return last_; }

  /// Takes in what is before last().
  __device__ void insert(const Ranked& added) {
    std::int32_t rank = k_ - 1;
    for (; rank > 0 && before(added, at(rank - 1)); --rank) at(rank) = at(rank - 1);
    at(rank) = added;
    last_ = at(k_ - 1);
  }

  __device__ void copy_to(Ranked* out) const {
    for (std::int32_t rank = 0; rank < k_; ++rank) out[rank] = list_[rank * kWarp];
  }

 private:
  __device__ Ranked& at(std::int32_t rank) { return list_[rank * kWarp]; }

  Ranked* list_;
  std::int32_t k_;
  Ranked last_;
};

/// Adds exponentials of logits to a sum: the largest of a part first, so that the sum is scaled
/// once a part, by exp(old top - new top).
template <std::int32_t kCount>
__device__ void add_part(ExpSum& sum, const float (&logits)[kCount], float top_of_part) {
  const float top = fmaxf(sum.top, top_of_part);
  const float center = center_of(top);
  float parts[2] = {sum.sum * exp_below(sum.top, center), 0};
#pragma unroll
  for (std::int32_t i = 0; i < kCount; ++i) parts[i % 2] += exp_below(logits[i], center);
  sum = {top, parts[0] + parts[1]};
}

}  // namespace fuselage::cuda
