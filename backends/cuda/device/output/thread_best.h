#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// A thread's sorted list of the k best, in shared memory. The lists of a warp are interleaved.
class ThreadBest {
 public:
  /// `lists` has room for k entries of each thread of the warp.
  __device__ ThreadBest(Ranked* lists, std::int32_t k) : list_(lists + lane_id()), k_(k) {
    for (std::int32_t rank = 0; rank < k; ++rank) at(rank) = Ranked();
  }

  /// The last entry: an entry of the list must rank before it.
  __device__ const Ranked& last() const { return last_; }

  /// Inserts an entry that ranks before last().
  __device__ void insert(const Ranked& added) {
    std::int32_t rank = k_ - 1;
    for (; rank > 0 && before(added, at(rank - 1)); --rank) at(rank) = at(rank - 1);
    at(rank) = added;
    last_ = at(k_ - 1);
  }

  __device__ void copy_to(Ranked* out) const {
    for (std::int32_t rank = 0; rank < k_; ++rank) out[rank] = list_[rank * kWarpSize];
  }

 private:
  __device__ Ranked& at(std::int32_t rank) { return list_[rank * kWarpSize]; }

  Ranked* list_;
  std::int32_t k_;
  Ranked last_;
};

}  // namespace fuselage::cuda
