#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// Sorts a warp's values in descending order by bitonic sort; lane i receives the i-th.
__device__ inline float sort_lanes(float value) {
  const std::int32_t lane = lane_id();
  for (std::int32_t size = 2; size <= kWarpSize; size *= 2) {
    for (std::int32_t step = size / 2; step > 0; step /= 2) {
      const float other = __shfl_xor_sync(kFullWarpMask, value, step);
      const bool descends = (lane & size) == 0;
      const bool is_first = (lane & step) == 0;
      value = descends == is_first ? fmaxf(value, other) : fminf(value, other);
    }
  }
  return value;
}

/// A warp's sorted list of the k best, in registers: rank r is in slot r / 32 of lane r % 32. All
/// lanes of the warp must make each call.
template <std::int32_t kSlots>
class WarpBest {
 public:
  static constexpr std::int32_t kCapacity = kSlots * kWarpSize;

  /// Keeps the k best, k <= kCapacity.
  __device__ explicit WarpBest(std::int32_t k) : k_(k) {}

  __device__ std::int32_t k() const { return k_; }

  /// The last entry, in all lanes: an entry of the list must rank before it.
  __device__ const Ranked& last() const { return last_; }

  /// Inserts the entry of each lane.
  __device__ void insert_lanes(const Ranked& own) {
    unsigned waiting = __ballot_sync(kFullWarpMask, before(own, last_));
    while (waiting != 0) {
      const std::int32_t lane = __ffs(static_cast<int>(waiting)) - 1;
      insert({__shfl_sync(kFullWarpMask, own.value, lane),
              __shfl_sync(kFullWarpMask, own.column, lane)});
      waiting &= waiting - 1;
      waiting &= __ballot_sync(kFullWarpMask, before(own, last_));
    }
  }

  /// Calls f(rank, entry) for each of the k ranks, in the lane that holds it.
  template <class F>
  __device__ void for_each(const F& f) const {
#pragma unroll
    for (std::int32_t slot = 0; slot < kSlots; ++slot) {
      const std::int32_t rank = slot * kWarpSize + lane_id();
      if (rank < k_) f(rank, slots_[slot]);
    }
  }

 private:
  /// Inserts an entry and shifts the entries after it by one rank.
  __device__ void insert(const Ranked& added) {
    const std::int32_t lane = lane_id();
#pragma unroll
    for (std::int32_t slot = kSlots - 1; slot >= 0; --slot) {
      Ranked& own = slots_[slot];
      Ranked above = shuffled_up(own);
      if (slot > 0) {
        const Ranked last_above = in_lane(slots_[slot > 0 ? slot - 1 : 0], kWarpSize - 1);
        if (lane == 0) above = last_above;
      }
      const bool is_top = slot == 0 && lane == 0;
      if (!is_top && before(added, above))
        own = above;
      else if (before(added, own))
        own = added;
    }
    last_ = in_lane(slots_[kSlots - 1], (k_ - 1) % kWarpSize);
    if (kSlots > 1 && k_ <= kCapacity - kWarpSize)
      last_ = in_lane(slots_[kSlots > 1 ? kSlots - 2 : 0], (k_ - 1) % kWarpSize);
  }

  __device__ static Ranked shuffled_up(const Ranked& own) {
    return {__shfl_up_sync(kFullWarpMask, own.value, 1),
            __shfl_up_sync(kFullWarpMask, own.column, 1)};
  }
  __device__ static Ranked in_lane(const Ranked& own, std::int32_t lane) {
    return {__shfl_sync(kFullWarpMask, own.value, lane),
            __shfl_sync(kFullWarpMask, own.column, lane)};
  }

  std::int32_t k_;
  Ranked slots_[kSlots];
  Ranked last_;
};

}  // namespace fuselage::cuda
