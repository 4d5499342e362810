#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/segment_reductions.h"
#include "backends/cuda/device/attention/slice_sum.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/dot_products.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kHeadWarps = kThreads / kWarpSize;

/// Up to this number of pairs a warp attends with a head alone; the scores are in shared memory.
constexpr int kFewPairs = 128;

/// The bias of a pair for a head.
__device__ float bias_of(const Attention& in, std::int64_t pair, std::int64_t head) {
  return in.biases.data ? element(row_of(in.biases, pair), head) : 0.0f;
}

/// The new row of a left row.
struct NewestRow {
  std::int32_t right = -2;  ///< the number of the new row; -2, a number of no row: there is none
  const float* data = nullptr;

  __device__ NewestRow(const NewRows& added, std::int64_t i) {
    if (!added.rows.data) return;
    right = added.newest[i];
    data = row_of(added.rows, i);
  }
};

/// The row of keys or values of number `right`, for the left row with this new row.
__device__ const float* attended_row(const RowsIn& rows, const NewestRow& newest,
                                     std::int32_t right) {
  if (right == newest.right) return newest.data;
  return right >= 0 ? rows.data + right * rows.stride : rows.fallback;
}

/// Appends `width` columns of the new row of left row i, by `threads` threads. Nothing else reads
/// them in this step.
__device__ void append_columns(const RowsIn& rows, const NewRows& added, std::int64_t i,
                               std::int64_t first, std::int64_t width, int thread, int threads) {
  if (!added.rows.data) return;
  const NewestRow from(added, i);
  float* to = added.history + from.right * rows.stride;
  for (std::int64_t c = first + thread; c < first + width; c += threads)
    to[c] = element(from.data, c);
}

// --- A block for a head ---

/// The attention weights of a left row and a head, by a block. Groups of kLanes lanes call
/// score(query, key) for a pair each. Scores are stored in `weights`, not in shared memory, so that
/// segments can have any length.
template <int kLanes, typename Score>
__device__ void attend(const Attention& in, std::int64_t i, std::int64_t head,
                       std::int64_t head_width, Score score, const RowsOut& weights) {
  constexpr int kPairs = kThreads / kLanes;
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const std::int64_t first_column = head * head_width;
  const auto head_of = [&](const float* row) -> StridedVector {
    return {row ? row + first_column : nullptr};
  };
  const NewestRow newest(in.new_keys, i);
  const StridedVector query = head_of(row_of(in.queries, i));
  float* out = row_of(weights, begin) + head;
  const std::int64_t own = threadIdx.x / kLanes;
  // Lanes without a pair call score() too: it reduces over the warp.
  for (std::int64_t p = begin; p < end; p += kPairs) {
    const bool has_pair = p + own < end;
    const float* key = has_pair ? attended_row(in.keys, newest, in.keys.index[p + own]) : nullptr;
    const float value = score(query, head_of(key), head_width);
    if (has_pair && threadIdx.x % kLanes == 0)
      out[(p + own - begin) * weights.stride] = value + bias_of(in, p + own, head);
  }
  __syncthreads();
  softmax_of<kThreads>({out, weights.stride}, end - begin, out, weights.stride);
}

/// The mixture of a head of a left row, by the weights that the block has stored.
__device__ void mix_head(const Attention& in, std::int64_t i, std::int64_t head, std::int64_t width,
                         const RowsOut& weights, const FloatsOut& mixtures) {
  static_assert(kThreads == kSlices * kWarpSize);
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const NewestRow newest(in.new_values, i);
  const float* weight = row_of(weights, begin) + head;
  const FloatRow out = row_of(mixtures, i);
  for (std::int64_t tile = 0; tile < width; tile += kWarpSize) {
    const std::int64_t own = tile + threadIdx.x % kWarpSize;
    const std::int64_t c = head * width + own;
    const float sum = slice_sum(begin, end, own < width, [&](std::int64_t p) {
      const float* value = attended_row(in.values, newest, in.values.index[p]);
      return weight[(p - begin) * weights.stride] * element(value, c);
    });
    if (threadIdx.x < kWarpSize && own < width) out.put(c, sum);
  }
}

// --- A warp for a head ---
//
// All operations have the order that a block has, so the bits do not tell which of the two ways a
// segment took.

/// The numbers of a warp in shared memory.
struct FewPairs {
  float weights[kFewPairs];
  std::int32_t right[kFewPairs];
};

/// The scores of a head. 8 lanes share a pair and hold kHeld columns of the query each.
template <int kHeld>
__device__ void score_few(const Attention& in, std::int64_t i, std::int64_t head,
                          std::int64_t head_width, float scale, std::int64_t begin, int count,
                          FewPairs& few) {
  constexpr int kLanes = 8;
  const int lane = lane_id() % kLanes;
  const std::int64_t first = head * head_width;
  const NewestRow newest(in.new_keys, i);
  const float* query_row = row_of(in.queries, i);
  float query[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    const int c = lane + k * kLanes;
    query[k] = c < head_width ? element(query_row, first + c) : 0.0f;
  }
#pragma unroll 2
  for (int p = 0; p < count; p += kWarpSize / kLanes) {
    const int own = p + lane_id() / kLanes;
    const bool has_pair = own < count;
    const float* key = has_pair ? attended_row(in.keys, newest, few.right[own]) : nullptr;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int c = lane + k * kLanes;
      if (c < head_width) sum = fmaf(query[k], element(key, first + c), sum);
    }
    const float value = scale * reduce_lanes<kLanes>(sum, Sum());
    if (has_pair && lane == 0) few.weights[own] = value + bias_of(in, begin + own, head);
  }
}

/// The softmax of the scores, as a block of kThreads threads computes it.
__device__ void softmax_few(FewPairs& few, int count, float* weights, std::int64_t stride) {
  static_assert(kFewPairs <= kThreads, "a thread of the block has one pair at most");
  OnlineSoftmax all{-INFINITY, 0.0f};
  for (int first = 0; first < count; first += kWarpSize) {
    OnlineSoftmax own{-INFINITY, 0.0f};
    if (first + lane_id() < count) own.add(few.weights[first + lane_id()]);
    own = reduce_lanes<kWarpSize>(own, MergeOnlineSoftmax());
    all = first == 0 ? own : MergeOnlineSoftmax()(all, own);
  }
  const float divisor = all.sum == 0.0f ? 1.0f : all.sum;
  for (int p = lane_id(); p < count; p += kWarpSize) {
    const float weight = expf(few.weights[p] - all.shift()) / divisor;
    few.weights[p] = weight;
    if (weights) weights[p * stride] = weight;
  }
}

/// The mixture of a head: each lane sums kColumns columns, in as many parts as a block has slices.
__device__ void mix_few(const Attention& in, std::int64_t i, std::int64_t head, std::int64_t width,
                        int count, const FewPairs& few, const FloatsOut& mixtures) {
  constexpr int kColumns = 2;
  const NewestRow newest(in.new_values, i);
  const FloatRow out = row_of(mixtures, i);
  for (std::int64_t tile = 0; tile < width; tile += kColumns * kWarpSize) {
    float sums[kColumns][kSlices] = {};
    for (int p = 0; p < count; p += kSlices) {
#pragma unroll
      for (int s = 0; s < kSlices; ++s) {
        if (p + s >= count) continue;
        const float* value = attended_row(in.values, newest, few.right[p + s]);
        const float weight = few.weights[p + s];
#pragma unroll
        for (int k = 0; k < kColumns; ++k) {
          const std::int64_t own = tile + k * kWarpSize + lane_id();
          if (own < width) sums[k][s] += weight * element(value, head * width + own);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const std::int64_t own = tile + k * kWarpSize + lane_id();
      float sum = sums[k][0];
#pragma unroll
      for (int s = 1; s < kSlices; ++s) sum += sums[k][s];
      if (own < width) out.put(head * width + own, sum);
    }
  }
}

/// A head of left row i with `count` pairs from `begin` on. `weights` may be null.
template <int kHeld>
__device__ void attend_few(const Attention& in, std::int64_t i, std::int64_t head,
                           std::int64_t head_width, std::int64_t value_width, float scale,
                           std::int64_t begin, int count, float* weights, std::int64_t stride,
                           const FloatsOut& mixtures) {
  __shared__ FewPairs all[kHeadWarps];
  FewPairs& few = all[threadIdx.x / kWarpSize];
  for (int p = lane_id(); p < count; p += kWarpSize) few.right[p] = in.keys.index[begin + p];
  append_columns(in.keys, in.new_keys, i, head * head_width, head_width, lane_id(), kWarpSize);
  append_columns(in.values, in.new_values, i, head * value_width, value_width, lane_id(),
                 kWarpSize);
  __syncwarp();
  score_few<kHeld>(in, i, head, head_width, scale, begin, count, few);
  __syncwarp();
  softmax_few(few, count, weights, stride);
  __syncwarp();
  mix_few(in, i, head, value_width, count, few, mixtures);
}

/// Blocks in x for left rows, in y for `heads_per_block` heads of them. Of few pairs a warp takes
/// each head, unless kHeld is 0.
template <int kLanes, int kHeld>
__global__ void dot_attention_kernel(Attention in, std::int64_t heads, std::int64_t heads_per_block,
                                     std::int64_t head_width, std::int64_t value_width, float scale,
                                     RowsOut weights, bool reads_weights, FloatsOut mixtures) {
  start_early();
  const std::int64_t i = blockIdx.x;
  if (i >= *in.left.live) return;
  const std::int64_t first = blockIdx.y * heads_per_block;
  if constexpr (kHeld > 0) {
    const std::int64_t begin = in.segments.begin[i];
    const std::int64_t count = in.segments.begin[i + 1] - begin;
    if (count <= kFewPairs) {
      const std::int64_t own = threadIdx.x / kWarpSize;
      const std::int64_t head = first + own;
      if (own >= heads_per_block || head >= heads) return;
      attend_few<kHeld>(in, i, head, head_width, value_width, scale, begin, static_cast<int>(count),
                        reads_weights ? row_of(weights, begin) + head : nullptr, weights.stride,
                        mixtures);
      return;
    }
  }
  const auto score = [&](const StridedVector& query, const StridedVector& key, std::int64_t width) {
    return scale * dot<kLanes>(query, key, width);
  };
  const auto thread = static_cast<int>(threadIdx.x);
  for (std::int64_t head = first; head < min(first + heads_per_block, heads); ++head) {
    append_columns(in.keys, in.new_keys, i, head * head_width, head_width, thread, kThreads);
    append_columns(in.values, in.new_values, i, head * value_width, value_width, thread, kThreads);
    attend<kLanes>(in, i, head, head_width, score, weights);
    __syncthreads();
    mix_head(in, i, head, value_width, weights, mixtures);
  }
}

/// 1 + (q k)². q k is clamped where tanh is 1 to the last bit, so that the product of four
/// denominators is finite. NaN is kept.
__device__ float denominator(float q, float k) {
  const float root = q * k > 3e4f ? 3e4f : q * k;
  return root * root + 1.0f;
}

/// The sum over columns of v / (1 + (q k)²). Four columns share one division.
__device__ float sum_of_fractions(const StridedVector& q, const StridedVector& k, const float* v,
                                  std::int64_t columns) {
  float sum = 0;
  std::int64_t c = threadIdx.x % kWarpSize;
  for (; c + 3 * kWarpSize < columns; c += 4 * kWarpSize) {
    const float d0 = denominator(q[c], k[c]);
    const float d1 = denominator(q[c + kWarpSize], k[c + kWarpSize]);
    const float d2 = denominator(q[c + 2 * kWarpSize], k[c + 2 * kWarpSize]);
    const float d3 = denominator(q[c + 3 * kWarpSize], k[c + 3 * kWarpSize]);
    const float n01 = v[c] * d1 + v[c + kWarpSize] * d0;
    const float n23 = v[c + 2 * kWarpSize] * d3 + v[c + 3 * kWarpSize] * d2;
    sum += (n01 * (d2 * d3) + n23 * (d0 * d1)) / ((d0 * d1) * (d2 * d3));
  }
  for (; c < columns; c += kWarpSize) sum += v[c] / denominator(q[c], k[c]);
  return reduce_lanes<kWarpSize>(sum, Sum());
}

/// The scores leave out the sum of v, a constant over all pairs, which softmax cancels.
__global__ void additive_weights_kernel(Attention in, const float* v, std::int64_t columns,
                                        RowsOut weights) {
  start_early();
  const auto score = [&](const StridedVector& query, const StridedVector& key, std::int64_t width) {
    return -2.0f * sum_of_fractions(query, key, v, width);
  };
  const std::int64_t i = blockIdx.x;
  if (i >= *in.left.live) return;
  attend<kWarpSize>(in, i, 0, columns, score, weights);
}

/// kLanes lanes for each head of each row.
template <int kLanes>
__global__ void head_dot_kernel(RowsIn a, RowsIn b, std::int64_t heads, std::int64_t head_width,
                                float scale, Rows rows, RowsOut out) {
  const std::int64_t group = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  const std::int64_t r = group / heads;
  const std::int64_t head = group % heads;
  // Lanes without a row go on: dot() reduces over the warp.
  const bool is_live = r < *rows.live;
  const auto head_of = [&](const RowsIn& in) -> StridedVector {
    const float* row = is_live ? row_of(in, r) : nullptr;
    return {row ? row + head * head_width : nullptr};
  };
  const float sum = dot<kLanes>(head_of(a), head_of(b), head_width);
  if (is_live && threadIdx.x % kLanes == 0) row_of(out, r)[head] = scale * sum;
}

/// Calls f with lanes_for_dot(width) as a constant.
template <typename F>
void with_lanes(std::int64_t width, F f) {
  if (lanes_for_dot(width) == 8)
    f(std::integral_constant<int, 8>());
  else
    f(std::integral_constant<int, kWarpSize>());
}

/// Calls f with lanes_for_dot(width), and with the columns that 8 lanes hold each; 0: they cannot.
template <typename F>
void with_held_columns(std::int64_t width, F f) {
  constexpr std::integral_constant<int, 8> kFew;
  if (lanes_for_dot(width) != kFew)
    f(std::integral_constant<int, kWarpSize>(), std::integral_constant<int, 0>());
  else if (width <= 64)
    f(kFew, std::integral_constant<int, 8>());
  else
    f(kFew, std::integral_constant<int, 16>());
}

/// Heads of a block: one, unless rows alone keep the device busy.
std::int64_t heads_per_block(const Rows& left, std::int64_t heads) {
  return left.max_live * heads <= 2 * kSaturatingBlocks ? 1 : kHeadWarps;
}

LaunchConfig config_for_heads(const Rows& left, std::int64_t heads, std::int64_t per_block) {
  return {.grid = dim3(static_cast<std::uint32_t>(left.max_live), blocks_for(heads, per_block)),
          .block = dim3(kThreads)};
}

}  // namespace

void dot_attention(cudaStream_t stream, const Attention& in, std::int64_t heads, float scale,
                   const RowsOut& weights, bool reads_weights, const FloatsOut& mixtures) {
  const std::int64_t head_width = in.queries.columns / heads;
  const std::int64_t per_block = heads_per_block(in.left, heads);
  with_held_columns(head_width, [&](auto lanes, auto held) {
    launch_early(stream, dot_attention_kernel<lanes, held>,
                 config_for_heads(in.left, heads, per_block), in, heads, per_block, head_width,
                 in.values.columns / heads, scale, weights, reads_weights, mixtures);
  });
}

void additive_attention(cudaStream_t stream, const Attention& in, const float* v,
                        const RowsOut& weights, const FloatsOut& mixtures) {
  launch_early(stream, additive_weights_kernel, config_for_heads(in.left, 1, 1), in, v,
               std::int64_t{in.queries.columns}, weights);
  mix_rows(stream,
           {.data = weights.data, .stride = weights.stride, .first = weights.first, .columns = 1},
           in.values, in.values.columns, in.segments, in.left, mixtures);
}

void head_dot(cudaStream_t stream, const RowsIn& a, const RowsIn& b, std::int64_t heads,
              float scale, const Rows& rows, const RowsOut& out) {
  const std::int64_t head_width = a.columns / heads;
  with_lanes(head_width, [&](auto lanes) {
    const LaunchConfig config{.grid = dim3(blocks_for(rows.max_live * heads, kThreads / lanes)),
                              .block = dim3(kThreads)};
    launch(stream, head_dot_kernel<lanes>, config, a, b, heads, head_width, scale, rows, out);
  });
}

}  // namespace fuselage::cuda
