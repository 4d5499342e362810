#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/column_runs.h"
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

/// The columns of a head, of queries and keys, and of values.
struct HeadShape {
  std::int32_t width = 0;
  std::int32_t value_width = 0;
};

/// The bias of a pair for a head.
template <typename T>
__device__ float bias_of(const Attention<T>& in, std::int64_t pair, std::int32_t head) {
  return in.biases.data ? element(row_of(in.biases, pair), head) : 0.0f;
}

/// The columns of head `head`, `width` wide, of the row of keys or values of number `right`;
/// nullptr, zeros, for a pair without one.
template <typename T>
__device__ const T* attended_head(const RowsOf<T>& rows, std::int32_t right, std::int32_t head,
                                  std::int32_t width) {
  // Of 32-bit factors a product of 64 bits is one instruction.
  const auto stride = static_cast<std::int32_t>(rows.stride);
  return right < 0 ? nullptr : rows.data + head * width + std::int64_t{right} * stride;
}

/// Appends `width` columns of the new row of left row i, by `threads` threads, which read them
/// after they have met. No others read them in this step.
template <typename T>
__device__ void append_columns(const RowsOf<T>& rows, const NewRows<T>& added, std::int64_t i,
                               std::int32_t first, std::int32_t width, int thread, int threads) {
  if (!added.rows.data) return;
  const float* from = row_of(added.rows, i);
  T* to = added.history + added.newest[i] * rows.stride;
  for (std::int32_t c = first + thread; c < first + width; c += threads)
    to[c] = rounded<T>(element(from, c));
}

/// Appends the columns of a head to the keys and to the values.
template <typename T>
__device__ void append_head(const Attention<T>& in, const HeadShape& shape, std::int64_t i,
                            std::int32_t head, int thread, int threads) {
  append_columns(in.keys, in.new_keys, i, head * shape.width, shape.width, thread, threads);
  append_columns(in.values, in.new_values, i, head * shape.value_width, shape.value_width, thread,
                 threads);
}

// --- A block for a head ---

/// The dot product of a query and a key, for each of kLanes adjacent lanes. All lanes of the warp
/// must call it.
template <int kLanes, bool kAligned, typename T>
__device__ float dot_of_runs(const float* query, const T* key, std::int32_t width) {
  float sum = 0;
  for (int c = lane_id() % kLanes * kRun<T>; c < width; c += kLanes * kRun<T>) {
    const Numbers<T> run(load_run<kAligned>(key, c, width));
#pragma unroll
    for (int j = 0; j < kRun<T>; ++j)
      if (kAligned || c + j < width) sum = fmaf(element(query, c + j), run.at[j], sum);
  }
  return reduce_lanes<kLanes>(sum, Sum());
}

/// The attention weights of a left row and a head, by a block. Groups of kLanes lanes call
/// score(query, key, width) for a pair each. Scores are stored in `weights`, not in shared memory,
/// so that segments can have any length.
template <int kLanes, typename T, typename Score>
__device__ void attend(const Attention<T>& in, std::int64_t i, std::int32_t head,
                       std::int32_t head_width, Score score, const RowsOut& weights) {
  constexpr int kPairs = kThreads / kLanes;
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const float* query = row_of(in.queries, i);
  if (query) query += head * head_width;
  float* out = row_of(weights, begin) + head;
  const std::int64_t own = threadIdx.x / kLanes;
  // Lanes without a pair call score() too: it reduces over the warp.
  for (std::int64_t p = begin; p < end; p += kPairs) {
    const bool has_pair = p + own < end;
    const std::int32_t right = has_pair ? in.keys.index[p + own] : -1;
    const float value = score(query, attended_head(in.keys, right, head, head_width), head_width);
    if (has_pair && threadIdx.x % kLanes == 0)
      out[(p + own - begin) * weights.stride] = value + bias_of(in, p + own, head);
  }
  __syncthreads();
  softmax_of<kThreads>({out, weights.stride}, end - begin, out, weights.stride);
}

/// The mixture of a head of a left row, by the weights that the block has stored.
template <typename T>
__device__ void mix_head(const Attention<T>& in, std::int64_t i, std::int32_t head,
                         std::int32_t width, const RowsOut& weights, const FloatsOut& mixtures) {
  static_assert(kThreads == kSlices * kWarpSize);
  constexpr int kLoads = 16 / sizeof(T);
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const float* first_weight = row_of(weights, begin) + head;
  const FloatRow out = row_of(mixtures, i);
  for (int tile = 0; tile < width; tile += kWarpSize) {
    const int own = tile + lane_id();
    const float sum = slice_sum<kLoads>(begin, end, own < width, [&](std::int64_t p, float before) {
      const T* value = attended_head(in.values, in.values.index[p], head, width);
      const float weight = first_weight[(p - begin) * weights.stride];
      return fmaf(weight, value ? as_float(value[own]) : 0.0f, before);
    });
    if (threadIdx.x < kWarpSize && own < width) out.put(head * width + own, sum);
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

/// The scores of a head, without biases. 8 lanes share a pair and hold kHeld columns of the query
/// each. The keys of several pairs are under way together.
template <int kHeld, bool kAligned, typename T>
__device__ void score_few(const Attention<T>& in, const HeadShape& shape, std::int64_t i,
                          std::int32_t head, float scale, int count, FewPairs& few) {
  constexpr int kLanes = 8, kGroups = kWarpSize / kLanes, kRuns = kHeld / kRun<T>;
  constexpr int kAhead = kRun<T> == 1 ? 2 : 4;
  const int lane = lane_id() % kLanes;
  const std::int32_t first = head * shape.width;
  const float* query_row = row_of(in.queries, i);
  const auto column = [lane](int r) { return (lane + r * kLanes) * kRun<T>; };
  float query[kRuns][kRun<T>];
#pragma unroll
  for (int r = 0; r < kRuns; ++r)
#pragma unroll
    for (int j = 0; j < kRun<T>; ++j)
      query[r][j] = column(r) + j < shape.width ? element(query_row, first + column(r) + j) : 0.0f;
  for (int own = lane_id() / kLanes; own - lane_id() / kLanes < count; own += kAhead * kGroups) {
    Run<T> keys[kAhead][kRuns];
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      const int p = own + a * kGroups;
      const T* key = attended_head(in.keys, p < count ? few.right[p] : -1, head, shape.width);
#pragma unroll
      for (int r = 0; r < kRuns; ++r) keys[a][r] = load_run<kAligned>(key, column(r), shape.width);
    }
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      float sum = 0;
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        const Numbers<T> run(keys[a][r]);
        // Beyond the head both are zeros.
#pragma unroll
        for (int j = 0; j < kRun<T>; ++j) sum = fmaf(query[r][j], run.at[j], sum);
      }
      const float value = scale * reduce_lanes<kLanes>(sum, Sum());
      const int p = own + a * kGroups;
      if (p < count && lane == 0) few.weights[p] = value;
    }
  }
}

/// The softmax of scores and biases, as a block of kThreads threads computes it.
template <typename T>
__device__ void softmax_few(const Attention<T>& in, std::int64_t begin, std::int32_t head,
                            int count, float* weights, std::int64_t stride, FewPairs& few) {
  static_assert(kFewPairs <= kThreads, "a thread of the block has one pair at most");
  OnlineSoftmax all{-INFINITY, 0.0f};
  for (int first = 0; first < count; first += kWarpSize) {
    OnlineSoftmax own{-INFINITY, 0.0f};
    if (const int p = first + lane_id(); p < count)
      own.add(few.weights[p] += bias_of(in, begin + p, head));
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

/// The mixture of a head of floats: each lane sums kColumns columns, in as many parts as a block
/// has slices.
template <bool kAligned>
__device__ void mix_few(const Attention<float>& in, const HeadShape& shape, std::int64_t i,
                        std::int32_t head, int count, const FewPairs& few,
                        const FloatsOut& mixtures) {
  constexpr int kColumns = 2;
  const std::int32_t width = shape.value_width;
  const FloatRow out = row_of(mixtures, i);
  for (int tile = lane_id(); tile - lane_id() < width; tile += kColumns * kWarpSize) {
    float sums[kColumns][kSlices] = {};
    for (int p = 0; p < count; p += kSlices) {
      float values[kSlices][kColumns];
#pragma unroll
      for (int s = 0; s < kSlices; ++s) {
        const float* value =
            attended_head(in.values, p + s < count ? few.right[p + s] : -1, head, width);
#pragma unroll
        for (int k = 0; k < kColumns; ++k)
          values[s][k] = load_run<kAligned>(value, tile + k * kWarpSize, width);
      }
#pragma unroll
      for (int s = 0; s < kSlices; ++s)
        if (p + s < count)
#pragma unroll
          for (int k = 0; k < kColumns; ++k)
            sums[k][s] = fmaf(few.weights[p + s], values[s][k], sums[k][s]);
    }
#pragma unroll
    for (int k = 0; k < kColumns; ++k)
      if (const int own = tile + k * kWarpSize; own < width)
        out.put(head * width + own, sum_of_slices(sums[k]));
  }
}

/// Adds the numbers of two lanes that differ in the bit `offset` of their number: the lane
/// without it has the sums of the first half of the numbers, the other lane the sums of the rest.
template <int kCount>
__device__ void exchange_halves(const float (&numbers)[kCount], int offset,
                                float (&sums)[kCount / 2]) {
  const bool is_second = (lane_id() & offset) != 0;
#pragma unroll
  for (int j = 0; j < kCount / 2; ++j) {
    const float kept = is_second ? numbers[j + kCount / 2] : numbers[j];
    sums[j] = kept + shuffle_xor(is_second ? numbers[j] : numbers[j + kCount / 2], offset);
  }
}

/// The mixture of a head of 16-bit floats. 8 lanes share a pair and hold a run of columns each; the
/// 4 groups of 8 lanes sum two slices each. Two pairs of each slice are under way together.
template <bool kAligned, typename T>
__device__ void mix_few(const Attention<T>& in, const HeadShape& shape, std::int64_t i,
                        std::int32_t head, int count, const FewPairs& few,
                        const FloatsOut& mixtures) {
  constexpr int kLanes = 8, kGroups = kWarpSize / kLanes, kParts = kSlices / kGroups, kAhead = 2;
  static_assert(kParts == 2, "sum_of_slices() adds the slices of a group first");
  const int group = lane_id() / kLanes;
  const std::int32_t width = shape.value_width;
  const FloatRow out = row_of(mixtures, i);
  for (int tile = 0; tile < width; tile += kLanes * kRun<T>) {
    const int own = tile + lane_id() % kLanes * kRun<T>;
    float sums[kParts][kRun<T>] = {};
    for (int first = group; first - group < count; first += kAhead * kSlices) {
      Run<T> values[kAhead * kParts];
#pragma unroll
      for (int a = 0; a < kAhead * kParts; ++a) {
        const int p = first + a * kGroups;
        const T* value = attended_head(in.values, p < count ? few.right[p] : -1, head, width);
        values[a] = load_run<kAligned>(value, own, width);
      }
#pragma unroll
      for (int a = 0; a < kAhead * kParts; ++a) {
        const int p = first + a * kGroups;
        const Numbers<T> run(values[a]);
        if (p < count)
#pragma unroll
          for (int j = 0; j < kRun<T>; ++j)
            sums[a % kParts][j] = fmaf(few.weights[p], run.at[j], sums[a % kParts][j]);
      }
    }
    float all[kRun<T>], half[kRun<T> / 2], own_sums[kRun<T> / kGroups];
#pragma unroll
    for (int j = 0; j < kRun<T>; ++j) all[j] = sums[0][j] + sums[1][j];
    exchange_halves(all, 2 * kLanes, half);
    exchange_halves(half, kLanes, own_sums);
#pragma unroll
    for (int j = 0; j < kRun<T> / kGroups; ++j)
      if (const int c = own + group * kRun<T> / kGroups + j; c < width)
        out.put(head * width + c, own_sums[j]);
  }
}

/// A head of left row i with `count` pairs from `begin` on. `weights` may be null.
template <int kHeld, bool kAligned, typename T>
__device__ void attend_few(const Attention<T>& in, const HeadShape& shape, std::int64_t i,
                           std::int32_t head, float scale, std::int64_t begin, int count,
                           float* weights, std::int64_t stride, const FloatsOut& mixtures) {
  __shared__ FewPairs all[kHeadWarps];
  FewPairs& few = all[threadIdx.x / kWarpSize];
  for (int p = lane_id(); p < count; p += kWarpSize) few.right[p] = in.keys.index[begin + p];
  append_head(in, shape, i, head, lane_id(), kWarpSize);
  __syncwarp();
  score_few<kHeld, kAligned>(in, shape, i, head, scale, count, few);
  __syncwarp();
  softmax_few(in, begin, head, count, weights, stride, few);
  __syncwarp();
  mix_few<kAligned>(in, shape, i, head, count, few, mixtures);
}

/// Blocks in x for left rows, in y for `heads_per_block` heads of them. Of few pairs a warp takes
/// each head, unless kHeld is 0.
template <int kLanes, int kHeld, bool kAligned, typename T>
__global__ void dot_attention_kernel(Attention<T> in, HeadShape shape, std::int32_t heads,
                                     std::int32_t heads_per_block, float scale, RowsOut weights,
                                     bool reads_weights, FloatsOut mixtures) {
  start_early();
  const std::int64_t i = blockIdx.x;
  if (i >= *in.left.live) return;
  const auto first = static_cast<std::int32_t>(blockIdx.y) * heads_per_block;
  if constexpr (kHeld > 0) {
    const std::int64_t begin = in.segments.begin[i];
    const std::int64_t count = in.segments.begin[i + 1] - begin;
    if (count <= kFewPairs) {
      const auto own = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
      const std::int32_t head = first + own;
      if (own >= heads_per_block || head >= heads) return;
      attend_few<kHeld, kAligned>(in, shape, i, head, scale, begin, static_cast<int>(count),
                                  reads_weights ? row_of(weights, begin) + head : nullptr,
                                  weights.stride, mixtures);
      return;
    }
  }
  const auto score = [&](const float* query, const T* key, std::int32_t width) {
    return scale * dot_of_runs<kLanes, kAligned>(query, key, width);
  };
  for (std::int32_t head = first; head < min(first + heads_per_block, heads); ++head) {
    append_head(in, shape, i, head, static_cast<int>(threadIdx.x), kThreads);
    __syncthreads();
    attend<kLanes>(in, i, head, shape.width, score, weights);
    __syncthreads();
    mix_head(in, i, head, shape.value_width, weights, mixtures);
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
__global__ void additive_weights_kernel(Attention<float> in, const float* v, std::int32_t columns,
                                        RowsOut weights) {
  start_early();
  const auto score = [&](const float* query, const float* key, std::int32_t width) {
    return -2.0f * sum_of_fractions({query}, {key}, v, width);
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

template <typename T>
void dot_attention(cudaStream_t stream, const Attention<T>& in, std::int64_t heads, float scale,
                   const RowsOut& weights, bool reads_weights, const FloatsOut& mixtures) {
  const auto count = static_cast<std::int32_t>(heads);
  const HeadShape shape{in.queries.columns / count, in.values.columns / count};
  const auto per_block = static_cast<std::int32_t>(heads_per_block(in.left, heads));
  const auto launch_kernel = [&](auto lanes, auto held, auto aligned) {
    launch_early(stream, dot_attention_kernel<lanes, held, aligned, T>,
                 config_for_heads(in.left, heads, per_block), in, shape, count, per_block, scale,
                 weights, reads_weights, mixtures);
  };
  with_held_columns(shape.width, [&](auto lanes, auto held) {
    if (kRun<T> == 1 || (has_aligned_runs(in.keys.data, in.keys.stride, shape.width) &&
                         has_aligned_runs(in.values.data, in.values.stride, shape.value_width)))
      launch_kernel(lanes, held, std::true_type());
    else if constexpr (kRun<T> > 1)
      launch_kernel(lanes, held, std::false_type());
  });
}

template void dot_attention(cudaStream_t, const Attention<float>&, std::int64_t, float,
                            const RowsOut&, bool, const FloatsOut&);
template void dot_attention(cudaStream_t, const Attention<__nv_bfloat16>&, std::int64_t, float,
                            const RowsOut&, bool, const FloatsOut&);
template void dot_attention(cudaStream_t, const Attention<__half>&, std::int64_t, float,
                            const RowsOut&, bool, const FloatsOut&);

void additive_attention(cudaStream_t stream, const Attention<float>& in, const float* v,
                        const RowsOut& weights, const FloatsOut& mixtures) {
  launch_early(stream, additive_weights_kernel, config_for_heads(in.left, 1, 1), in, v,
               in.queries.columns, weights);
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
