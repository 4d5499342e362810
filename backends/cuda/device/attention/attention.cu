#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/segment_reductions.h"
#include "backends/cuda/device/attention/slice_sum.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/dot_products.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;

/// The bias of a pair for head blockIdx.y.
__device__ float bias_of(const Attention& in, std::int64_t pair) {
  return in.biases.data ? element(row_of(in.biases, pair), blockIdx.y) : 0.0f;
}

/// The attention weights of left row blockIdx.x and head blockIdx.y. Groups of kLanes lanes call
/// score(query, key) for a pair each. Scores are stored in `weights`, not in shared memory, so that
/// segments can have any length.
template <int kLanes, typename Score>
__device__ void attend(const Attention& in, std::int64_t head_width, Score score,
                       const RowsOut& weights) {
  constexpr int kPairs = kThreads / kLanes;
  const std::int64_t i = blockIdx.x;
  if (i >= *in.left.live) return;
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const std::int64_t first_column = blockIdx.y * head_width;
  const auto head_of = [&](const float* row) -> StridedVector {
    return {row ? row + first_column : nullptr};
  };
  const StridedVector query = head_of(row_of(in.queries, i));
  float* out = row_of(weights, begin) + blockIdx.y;
  const std::int64_t own = threadIdx.x / kLanes;
  // Lanes without a pair call score() too: it reduces over the warp.
  for (std::int64_t p = begin; p < end; p += kPairs) {
    const bool has_pair = p + own < end;
    const float value =
        score(query, has_pair ? head_of(row_of(in.keys, p + own)) : StridedVector{}, head_width);
    if (has_pair && threadIdx.x % kLanes == 0)
      out[(p + own - begin) * weights.stride] = value + bias_of(in, p + own);
  }
  __syncthreads();
  softmax_of<kThreads>({out, weights.stride}, end - begin, out, weights.stride);
}

/// The mixture of head blockIdx.y of left row blockIdx.x, by the weights that the block has stored.
__device__ void mix_head(const Attention& in, std::int64_t width, const RowsOut& weights,
                         const FloatsOut& mixtures) {
  static_assert(kThreads == kSlices * kWarpSize);
  const std::int64_t i = blockIdx.x;
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const float* weight = row_of(weights, begin) + blockIdx.y;
  const FloatRow out = row_of(mixtures, i);
  for (std::int64_t tile = 0; tile < width; tile += kWarpSize) {
    const std::int64_t own = tile + threadIdx.x % kWarpSize;
    const std::int64_t c = blockIdx.y * width + own;
    const float sum = slice_sum(begin, end, own < width, [&](std::int64_t p) {
      return weight[(p - begin) * weights.stride] * element(row_of(in.values, p), c);
    });
    if (threadIdx.x < kWarpSize && own < width) out.put(c, sum);
  }
}

template <int kLanes>
__global__ void dot_attention_kernel(Attention in, std::int64_t head_width,
                                     std::int64_t value_width, float scale, RowsOut weights,
                                     FloatsOut mixtures) {
  if (static_cast<std::int64_t>(blockIdx.x) >= *in.left.live) return;
  const auto score = [&](const StridedVector& query, const StridedVector& key, std::int64_t width) {
    return scale * dot<kLanes>(query, key, width);
  };
  attend<kLanes>(in, head_width, score, weights);
  __syncthreads();
  mix_head(in, value_width, weights, mixtures);
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
  const auto score = [&](const StridedVector& query, const StridedVector& key, std::int64_t width) {
    return -2.0f * sum_of_fractions(query, key, v, width);
  };
  attend<kWarpSize>(in, columns, score, weights);
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

LaunchConfig config_for_heads(const Rows& left, std::int64_t heads) {
  return {
      .grid = dim3(static_cast<std::uint32_t>(left.max_live), static_cast<std::uint32_t>(heads)),
      .block = dim3(kThreads)};
}

}  // namespace

void dot_attention(cudaStream_t stream, const Attention& in, std::int64_t heads, float scale,
                   const RowsOut& weights, const FloatsOut& mixtures) {
  const std::int64_t head_width = in.queries.columns / heads;
  with_lanes(head_width, [&](auto lanes) {
    launch(stream, dot_attention_kernel<lanes>, config_for_heads(in.left, heads), in, head_width,
           in.values.columns / heads, scale, weights, mixtures);
  });
}

void additive_attention(cudaStream_t stream, const Attention& in, const float* v,
                        const RowsOut& weights, const FloatsOut& mixtures) {
  launch(stream, additive_weights_kernel, config_for_heads(in.left, 1), in, v,
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
