#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/pairs.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/dots.h"
#include "backends/cuda/device/runtime/launch_shapes.h"
#include "backends/cuda/device/runtime/numbers.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;

/// The weights of the pairs of left row blockIdx.x for head blockIdx.y. kLanes lanes call
/// score(query, key) for a pair at a time. Scores wait where the weights go, for sentences of any
/// length.
template <int kLanes, typename Score>
__device__ void attend(const Attention& in, std::int64_t head_width, Score score,
                       const RowsOut& weights) {
  constexpr int kPairs = kThreads / kLanes;
  const std::int64_t i = blockIdx.x;
  if (i >= *in.left.live) return;
  const std::int64_t begin = in.segments.begin[i];
  const std::int64_t end = in.segments.begin[i + 1];
  const std::int64_t first_column = blockIdx.y * head_width;
  const auto head_of = [&](const float* row) -> Numbers {
    return {row ? row + first_column : nullptr};
  };
  const Numbers query = head_of(row_of(in.queries, i));
  float* out = row_of(weights, begin) + blockIdx.y;
  const std::int64_t own = threadIdx.x / kLanes;
  // All lanes of a warp go on together, with or without a pair.
  for (std::int64_t p = begin; p < end; p += kPairs) {
    const bool has_pair = p + own < end;
    const float value =
        score(query, has_pair ? head_of(row_of(in.keys, p + own)) : Numbers{}, head_width);
    if (has_pair && threadIdx.x % kLanes == 0) out[(p + own - begin) * weights.stride] = value;
  }
  __syncthreads();
  softmax_of<kThreads>({out, weights.stride}, end - begin, out, weights.stride);
}

template <int kLanes>
__global__ void dot_weights_kernel(Attention in, std::int64_t head_width, float scale,
                                   RowsOut weights) {
  const auto score = [&](const Numbers& query, const Numbers& key, std::int64_t width) {
    return scale * dot<kLanes>(query, key, width);
  };
  attend<kLanes>(in, head_width, score, weights);
}

/// 1 + (q k)², with q k bounded where tanh is 1 to the last bit, so that the product of four stays
/// finite. A NaN stays.
__device__ float denominator(float q, float k) {
  const float root = q * k > 3e4f ? 3e4f : q * k;
  return root * root + 1.0f;
}

/// The sum over columns of v / (1 + (q k)²). The terms of four columns are one fraction: four
/// divisions become one.
__device__ float sum_of_fractions(const Numbers& q, const Numbers& k, const float* v,
                                  std::int64_t columns) {
  float sum = 0;
  std::int64_t c = threadIdx.x % kWarp;
  for (; c + 3 * kWarp < columns; c += 4 * kWarp) {
    const float d0 = denominator(q[c], k[c]);
    const float d1 = denominator(q[c + kWarp], k[c + kWarp]);
    const float d2 = denominator(q[c + 2 * kWarp], k[c + 2 * kWarp]);
    const float d3 = denominator(q[c + 3 * kWarp], k[c + 3 * kWarp]);
    const float n01 = v[c] * d1 + v[c + kWarp] * d0;
    const float n23 = v[c + 2 * kWarp] * d3 + v[c + 3 * kWarp] * d2;
    sum += (n01 * (d2 * d3) + n23 * (d0 * d1)) / ((d0 * d1) * (d2 * d3));
  }
  for (; c < columns; c += kWarp) sum += v[c] / denominator(q[c], k[c]);
  return combine_lanes<kWarp>(sum, Sum());
}

/// Scores without the sum of v, which is the same for all pairs.
__global__ void additive_weights_kernel(Attention in, const float* v, std::int64_t columns,
                                        RowsOut weights) {
  const auto score = [&](const Numbers& query, const Numbers& key, std::int64_t width) {
    return -2.0f * sum_of_fractions(query, key, v, width);
  };
  attend<kWarp>(in, columns, score, weights);
}

/// kLanes lanes for each head of each row.
template <int kLanes>
__global__ void head_dot_kernel(RowsIn a, RowsIn b, std::int64_t heads, std::int64_t head_width,
                                float scale, Rows rows, RowsOut out) {
  const std::int64_t team = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  const std::int64_t r = team / heads;
  const std::int64_t head = team % heads;
  // Lanes without a row come along: their warp has others.
  const bool is_live = r < *rows.live;
  const auto head_of = [&](const RowsIn& in) -> Numbers {
    const float* row = is_live ? row_of(in, r) : nullptr;
    return {row ? row + head * head_width : nullptr};
  };
  const float sum = dot<kLanes>(head_of(a), head_of(b), head_width);
  if (is_live && threadIdx.x % kLanes == 0) row_of(out, r)[head] = scale * sum;
}

/// Calls f with the lanes for dot products of so many elements as a constant.
template <typename F>
void with_lanes(std::int64_t width, F f) {
  if (lanes_for_dot(width) == 8)
    f(std::integral_constant<int, 8>());
  else
    f(std::integral_constant<int, kWarp>());
}

Spread spread_heads(const Rows& left, std::int64_t heads) {
  return {.grid = dim3(static_cast<std::uint32_t>(left.most), static_cast<std::uint32_t>(heads)),
          .block = dim3(kThreads)};
}

}  // namespace

void dot_attention(cudaStream_t stream, const Attention& in, std::int64_t heads, float scale,
                   const RowsOut& weights, const RowsOut& mixtures) {
  const std::int64_t head_width = in.queries.columns / heads;
  with_lanes(head_width, [&](auto lanes) {
    launch(stream, dot_weights_kernel<lanes>, spread_heads(in.left, heads), in, head_width, scale,
           weights);
  });
  mix_rows(stream,
           {.data = weights.data,
            .stride = weights.stride,
            .first = weights.first,
            .columns = static_cast<std::int32_t>(heads)},
           in.values, in.values.columns, in.segments, in.left, mixtures);
}

void additive_attention(cudaStream_t stream, const Attention& in, const float* v,
                        const RowsOut& weights, const RowsOut& mixtures) {
  launch(stream, additive_weights_kernel, spread_heads(in.left, 1), in, v,
         std::int64_t{in.queries.columns}, weights);
  mix_rows(stream,
           {.data = weights.data, .stride = weights.stride, .first = weights.first, .columns = 1},
           in.values, in.values.columns, in.segments, in.left, mixtures);
}

void head_dot(cudaStream_t stream, const RowsIn& a, const RowsIn& b, std::int64_t heads,
              float scale, const Rows& rows, const RowsOut& out) {
  const std::int64_t head_width = a.columns / heads;
  with_lanes(head_width, [&](auto lanes) {
    const Spread spread{.grid = dim3(blocks_for(rows.most * heads, kThreads / lanes)),
                        .block = dim3(kThreads)};
    launch(stream, head_dot_kernel<lanes>, spread, a, b, heads, head_width, scale, rows, out);
  });
}

}  // namespace fuselage::cuda
