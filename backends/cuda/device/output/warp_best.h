#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// What a logit counts as among the best: NaN as -infinity.
__device__ inline float rank_of(float logit) { return fmaxf(logit, kLowest); }

/// A warp's values in descending order, one a lane.
__device__ inline float sorted_lanes(float value) {
  // Bitonic sort: runs of `size` lanes get sorted in alternating directions.
  const std::int32_t lane = lane_of_thread();
  for (std::int32_t size = 2; size <= kWarp; size *= 2) {
    for (std::int32_t step = size / 2; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(kFullWarp, value, step);
      const bool descends = (lane & size) == 0;
      const bool is_first = (lane & step) == 0;
      value = descends == is_first ? fmaxf(value, other) : fminf(value, other);
    }
  }
  return value;
}

/// The best that a warp has met, sorted: rank r is in slot r / 32 of lane r % 32. All lanes of a
/// warp take part in each call.
template <std::int32_t kSlots>
class WarpBest {
 public:
  static constexpr std::int32_t kMost = kSlots * kWarp;

  /// Keeps the k best, k <= kMost.
  __device__ explicit WarpBest(std::int32_t k) : k_(k) {}

  __device__ std::int32_t k() const { return k_; }

  /// What must be beaten to be among the k best; the same in all lanes.
  __device__ const Ranked& last() const { return last_; }

  /// Takes in what each lane has.
  __device__ void take(const Ranked& own) {
    unsigned waiting = __ballot_sync(kFullWarp, before(own, last_));
    while (waiting != 0) {
      const std::int32_t lane = __ffs(static_cast<int>(waiting)) - 1;
      insert({__shfl_sync(kFullWarp, own.value, lane), __shfl_sync(kFullWarp, own.column, lane)});
      waiting &= waiting - 1;
      waiting &= __ballot_sync(kFullWarp, before(own, last_));
    }
  }

  /// Takes in a list of k.
  __device__ void take_list(const Ranked* list) {
    for (std::int32_t first = 0; first < k_; first += kWarp) {
      const std::int32_t rank = first + lane_of_thread();
      take(rank < k_ ? list[rank] : Ranked());
    }
  }

  /// Calls f(rank, what is there) for each of the k ranks, in the lane that has it.
  template <class F>
  __device__ void for_each(const F& f) const {
#pragma unroll
    for (std::int32_t slot = 0; slot < kSlots; ++slot) {
      const std::int32_t rank = slot * kWarp + lane_of_thread();
      if (rank < k_) f(rank, slots_[slot]);
    }
  }

 private:
  /// What is worse moves one rank on.
  __device__ void insert(const Ranked& added) {
    const std::int32_t lane = lane_of_thread();
#pragma unroll
    for (std::int32_t slot = kSlots - 1; slot >= 0; --slot) {
      Ranked& own = slots_[slot];
      Ranked above = shuffled_up(own);
      if (slot > 0) {
        const Ranked last_above = in_lane(slots_[slot > 0 ? slot - 1 : 0], kWarp - 1);
        if (lane == 0) above = last_above;
      }
      const bool is_top = slot == 0 && lane == 0;
      if (!is_top && before(added, above))
        own = above;
      else if (before(added, own))
        own = added;
    }
    last_ = in_lane(slots_[kSlots - 1], (k_ - 1) % kWarp);
    if (kSlots > 1 && k_ <= kMost - kWarp)
      last_ = in_lane(slots_[kSlots > 1 ? kSlots - 2 : 0], (k_ - 1) % kWarp);
  }

  __device__ static Ranked shuffled_up(const Ranked& own) {
    return {__shfl_up_sync(kFullWarp, own.value, 1), __shfl_up_sync(kFullWarp, own.column, 1)};
  }
  __device__ static Ranked in_lane(const Ranked& own, std::int32_t lane) {
    return {__shfl_sync(kFullWarp, own.value, lane), __shfl_sync(kFullWarp, own.column, lane)};
  }

  std::int32_t k_;
  Ranked slots_[kSlots];
  Ranked last_;
};

}  // namespace fuselage::cuda
