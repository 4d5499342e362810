#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/hopper_ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// The ranking of a warpgroup's sums in registers. Four lanes (a quad) have a row of a tile, 32
// logits each.

inline constexpr std::int32_t kQuad = 4;
inline constexpr std::int32_t kQuadLogits = 32;  ///< of a lane, in a row

/// The logits of a lane in one of the two rows of its sums. Their columns ascend.
struct QuadRow {
  WarpgroupSums& sums;
  std::int32_t part;  ///< a constant once loops are unrolled, as i is

  __device__ float& operator[](std::int32_t i) const { return sums[i / 2 * 4 + part * 2 + i % 2]; }

  /// The column of logit i in the tile.
  __device__ static std::int32_t column(std::int32_t i) {
    return i / 2 * 8 + lane_id() % kQuad * 2 + i % 2;
  }
};

/// The largest logit of a row in the tile, without NaN, for the lanes of its quad.
__device__ inline float quad_max(const QuadRow& logits) {
  float max = kLowest;
#pragma unroll
  for (std::int32_t i = 0; i < kQuadLogits; ++i) max = fmaxf(max, logits[i]);
  return reduce_lanes<kQuad>(max, Max());
}

/// The normalizer of a row in the tile, for the lanes of its quad, from its largest logit.
__device__ inline SoftmaxNormalizer quad_normalizer(const QuadRow& logits, float max) {
  const float shift = shift_of(max);
  float parts[4] = {};
#pragma unroll
  for (std::int32_t i = 0; i < kQuadLogits; ++i) parts[i % 4] += exp_relative(logits[i], shift);
  return {max, reduce_lanes<kQuad>((parts[0] + parts[1]) + (parts[2] + parts[3]), Sum())};
}

/// The best entry of a quad's lanes, for all of them.
__device__ inline Ranked quad_best(Ranked own) {
#pragma unroll
  for (std::int32_t offset = kQuad / 2; offset > 0; offset /= 2) {
    const Ranked other{__shfl_xor_sync(kFullWarpMask, own.value, offset),
                       __shfl_xor_sync(kFullWarpMask, own.column, offset)};
    if (before(other, own)) own = other;
  }
  return own;
}

/// A row's sorted list of the k best of its warpgroup's tiles, in shared memory, and its quad's
/// registers. Tiles must come in the order of their columns. All lanes of the warp must make each
/// call, with the same rows.
class QuadBest {
 public:
  /// `list`: the row's first entry; the next ones are `stride` entries apart. A row that is not
  /// `live` takes no entries.
  __device__ void begin(Ranked* list, std::int32_t stride, std::int32_t k, bool live) {
    list_ = list;
    stride_ = stride;
    k_ = live ? k : 0;
    last_ = live ? kLowest : INFINITY;
  }

  /// Adds the logits of the tile whose columns begin at `first`, of which `count` are there and the
  /// largest is `max`. Destroys the logits.
  __device__ void add(const QuadRow& logits, float max, std::int32_t first, std::int32_t count) {
    // Later columns rank behind equal values.
    const bool reached = filled_ < k_ || max > last_;
    if (!__any_sync(kFullWarpMask, reached)) return;
    forget_columns(logits, count);
    for (;;) {
      const Ranked own = best_left(logits, first);
      const Ranked best = quad_best(own);
      const bool wanted = best.column != Ranked::kNowhere && (filled_ < k_ || best.value > last_);
      if (!__any_sync(kFullWarpMask, wanted)) return;
      if (wanted && own.column == best.column) remove(logits, own.column - first);
      insert(best, wanted);
    }
  }

  /// Copies the list, with empty entries behind it, to k entries.
  __device__ void copy_to(Ranked* out) const {
    for (std::int32_t rank = lane_id() % kQuad; rank < k_; rank += kQuad)
      out[rank] = rank < filled_ ? at(rank) : Ranked();
  }

 private:
  __device__ Ranked& at(std::int32_t rank) const { return list_[rank * stride_]; }

  /// NaN stands for an entry that was taken, -infinity for a logit that is NaN.
  __device__ static void forget_columns(const QuadRow& logits, std::int32_t count) {
#pragma unroll
    for (std::int32_t i = 0; i < kQuadLogits; ++i)
      logits[i] = QuadRow::column(i) < count ? rank_of(logits[i]) : NAN;
  }

  __device__ static Ranked best_left(const QuadRow& logits, std::int32_t first) {
    float value = NAN;
#pragma unroll
    for (std::int32_t i = 0; i < kQuadLogits; ++i) value = fmaxf(value, logits[i]);
    Ranked best;
#pragma unroll
    for (std::int32_t i = kQuadLogits - 1; i >= 0; --i)
      if (logits[i] == value) best = {value, first + QuadRow::column(i)};
    return best;
  }

  __device__ static void remove(const QuadRow& logits, std::int32_t column) {
#pragma unroll
    for (std::int32_t i = 0; i < kQuadLogits; ++i)
      if (QuadRow::column(i) == column) logits[i] = NAN;
  }

  /// Inserts behind equal values, by the quad's first lane.
  __device__ void insert(const Ranked& added, bool wanted) {
    if (wanted && lane_id() % kQuad == 0) {
      std::int32_t rank = min(filled_, k_ - 1);
      for (; rank > 0 && before(added, at(rank - 1)); --rank) at(rank) = at(rank - 1);
      at(rank) = added;
    }
    if (wanted) filled_ = min(filled_ + 1, k_);
    __syncwarp();
    if (wanted && filled_ == k_) last_ = at(k_ - 1).value;
    __syncwarp();
  }

  Ranked* list_ = nullptr;
  std::int32_t stride_ = 0, k_ = 0, filled_ = 0;
  float last_ = kLowest;
};

}  // namespace fuselage::cuda
