#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/output/warp_best.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// The k best of the entries that the warps of a block read. A warp only queues entries that reach a
// bound of the k-th best, which all warps raise together, so that few entries of a row cost more
// than a comparison. At the end the queued entries are ranked by counting, all at once: no chain of
// insertions, each of which takes some 300 cycles.

/// Entries that a warp queues before it sorts them into a list.
inline constexpr std::int32_t kBestQueue = 64;

/// An integer in the order of floats without NaN, and back.
__device__ inline std::int32_t ordered(float x) {
  const std::int32_t bits = __float_as_int(x);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__device__ inline float from_ordered(std::int32_t bits) {
  return __int_as_float(bits < 0 ? bits ^ 0x7fffffff : bits);
}

/// Shared memory of a block of so many warps.
inline std::size_t block_best_bytes(std::int32_t warps, std::int32_t k) {
  const auto queues = static_cast<std::size_t>(warps) * static_cast<std::size_t>(k + kBestQueue);
  return (2 * queues + static_cast<std::size_t>(k)) * sizeof(Ranked) + 2 * sizeof(std::int32_t);
}

/// What the warps of a block share.
struct BlockBest {
  std::int32_t k;
  Ranked* queue;   ///< of this warp: kBestQueue entries, then k of its list
  Ranked* pool;    ///< the queued entries of all warps
  Ranked* sorted;  ///< the result, best first
  std::int32_t* bound;
  std::int32_t* count;  ///< of the pool

  /// All threads of the block must call it; it has a barrier.
  __device__ BlockBest(void* shared, std::int32_t best) : k(best) {
    const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarpSize;
    auto* entries = static_cast<Ranked*>(shared);
    queue = entries + static_cast<std::int32_t>(threadIdx.x) / kWarpSize * (k + kBestQueue);
    pool = entries + warps * (k + kBestQueue);
    sorted = pool + warps * (k + kBestQueue);
    bound = reinterpret_cast<std::int32_t*>(sorted + k);
    count = bound + 1;
    if (threadIdx.x == 0) {
      *bound = ordered(kLowest);
      *count = 0;
    }
    __syncthreads();
  }

  /// Raises the bound of all warps to at least `own`, and returns it, for all lanes of the warp.
  __device__ float raise(float own) const {
    std::int32_t before = 0;
    if (lane_id() == 0) before = atomicMax(bound, ordered(own));
    return fmaxf(from_ordered(__shfl_sync(kFullWarpMask, before, 0)), own);
  }
};

/// A warp's candidates for the k best of its block. All lanes of the warp must make each call.
template <std::int32_t kSlots>
class WarpCandidates {
 public:
  __device__ explicit WarpCandidates(const BlockBest& block) : block_(block), best_(block.k) {}

  /// The number that the k-th best value of the block reaches.
  __device__ float bound() const { return bound_; }

  /// Whether some of the entries reach the bound, of which lanes pass their largest. Raises the
  /// bound to the k-th largest of these, if k of them reach it.
  __device__ bool reach(float lane_max) {
    bound_ = block_.raise(bound_);
    const unsigned lanes = __ballot_sync(kFullWarpMask, lane_max >= bound_);
    if (lanes == 0) return false;
    if (kSlots == 1 && __popc(lanes) >= block_.k)
      bound_ = fmaxf(bound_, __shfl_sync(kFullWarpMask, sort_lanes(lane_max), block_.k - 1));
    return true;
  }

  /// Queues the lanes' entries that are wanted and reach the bound.
  __device__ void add(const Ranked& own, bool wanted) {
    wanted = wanted && reaches(own);
    unsigned lanes = __ballot_sync(kFullWarpMask, wanted);
    if (lanes == 0) return;
    if (count_ + __popc(lanes) > kBestQueue) {
      sort_queue();
      wanted = wanted && reaches(own);
      lanes = __ballot_sync(kFullWarpMask, wanted);
    }
    if (wanted) block_.queue[count_ + __popc(lanes & ((1u << lane_id()) - 1))] = own;
    count_ += __popc(lanes);
  }

  /// Ends the warp's entries. The block's barrier must follow, and then select().
  __device__ void close() {
    bound_ = block_.raise(bound_);
    if (!has_list_) return;
    best_.for_each(
        [&](std::int32_t rank, const Ranked& ranked) { block_.queue[kBestQueue + rank] = ranked; });
    __syncwarp();
  }

  /// Leaves the k best of all warps' entries in BlockBest::sorted. All threads of the block must
  /// call it.
  __device__ void select() {
    __syncwarp();
    bound_ = from_ordered(*block_.bound);
    pool(block_.queue, count_);
    if (has_list_) pool(block_.queue + kBestQueue, block_.k);
    __syncthreads();
    const std::int32_t count = *block_.count;
    for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count;
         i += static_cast<std::int32_t>(blockDim.x)) {
      const Ranked own = block_.pool[i];
      std::int32_t rank = 0;
      for (std::int32_t other = 0; other < count; ++other)
        rank += before(block_.pool[other], own) ? 1 : 0;
      if (rank < block_.k) block_.sorted[rank] = own;
    }
    for (std::int32_t i = count + static_cast<std::int32_t>(threadIdx.x); i < block_.k;
         i += static_cast<std::int32_t>(blockDim.x))
      block_.sorted[i] = Ranked();
    __syncthreads();
  }

 private:
  __device__ bool reaches(const Ranked& own) const {
    return own.value >= bound_ && before(own, best_.last());
  }

  /// Sorts the queue into the list, of which the last entry is another bound.
  __device__ void sort_queue() {
    __syncwarp();
    for (std::int32_t first = 0; first < count_; first += kWarpSize) {
      const std::int32_t i = first + lane_id();
      best_.insert_lanes(i < count_ ? block_.queue[i] : Ranked());
    }
    __syncwarp();
    count_ = 0;
    has_list_ = true;
    bound_ = fmaxf(bound_, best_.last().value);
  }

  /// Adds entries that reach the bound of all warps to the pool.
  __device__ void pool(const Ranked* entries, std::int32_t count) const {
    for (std::int32_t first = 0; first < count; first += kWarpSize) {
      const std::int32_t i = first + lane_id();
      const Ranked own = i < count ? entries[i] : Ranked();
      const bool wanted = own.column != Ranked::kNowhere && own.value >= bound_;
      const unsigned lanes = __ballot_sync(kFullWarpMask, wanted);
      std::int32_t place = 0;
      if (lane_id() == 0 && lanes != 0) place = atomicAdd(block_.count, __popc(lanes));
      place = __shfl_sync(kFullWarpMask, place, 0);
      if (wanted) block_.pool[place + __popc(lanes & ((1u << lane_id()) - 1))] = own;
    }
  }

  const BlockBest& block_;
  WarpBest<kSlots> best_;
  float bound_ = kLowest;
  std::int32_t count_ = 0;
  bool has_list_ = false;
};

}  // namespace fuselage::cuda
