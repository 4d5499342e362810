#include "backends/cuda/device/attention/segment_reductions.h"
#include "backends/cuda/device/attention/slice_sum.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

constexpr int kShortlistThreads = 128;  ///< threads for a segment of the size of a shortlist

/// A thread group for each head of each left row.
template <int kThreads, bool kLog>
__global__ void segment_softmax_kernel(RowsIn x, std::int64_t heads, Segments segments, Rows left,
                                       RowsOut out) {
  const std::int64_t group = ThreadGroup<kThreads>::index();
  const std::int64_t i = group / heads;
  if (i >= *left.live) return;
  const std::int64_t head = group % heads;
  const std::int64_t begin = segments.begin[i];
  const StridedVector from{row_of(x, begin) + head, x.stride};
  const std::int64_t count = segments.begin[i + 1] - begin;
  float* to = row_of(out, begin) + head;
  if (kLog)
    log_softmax_of<kThreads>(from, count, to, out.stride);
  else
    softmax_of<kThreads>(from, count, to, out.stride);
}

/// Sums over the pairs of left row blockIdx.x, for the 32 columns from
/// blockIdx.y * 32 on, where f(pair, column, sum) adds a pair's to a sum. The first warp calls
/// finish(left row, column, sum, number of pairs).
template <typename F, typename Finish>
__device__ void sum_over_pairs(const Segments& segments, const Rows& left, std::int64_t columns,
                               F f, Finish finish) {
  const std::int64_t i = blockIdx.x;
  if (i >= *left.live) return;
  const std::int64_t c = std::int64_t{blockIdx.y} * kWarpSize + threadIdx.x % kWarpSize;
  const std::int64_t begin = segments.begin[i];
  const std::int64_t end = segments.begin[i + 1];
  const float sum = slice_sum(begin, end, c < columns,
                              [&](std::int64_t p, float before) { return f(p, c, before); });
  if (threadIdx.x < kWarpSize && c < columns) finish(i, c, sum, end - begin);
}

__global__ void mix_kernel(RowsIn weights, RowsIn x, std::int64_t head_width, std::int64_t columns,
                           Segments segments, Rows left, FloatsOut out) {
  start_early();
  sum_over_pairs(
      segments, left, columns,
      [&](std::int64_t p, std::int64_t c, float before) {
        const float* row = row_of(x, p);
        return row ? fmaf(row_of(weights, p)[c / head_width], row[c], before) : before;
      },
      [&](std::int64_t i, std::int64_t c, float sum, std::int64_t) { row_of(out, i).put(c, sum); });
}

__global__ void mean_kernel(RowsIn x, std::int64_t columns, Segments segments, Rows left,
                            RowsOut out) {
  sum_over_pairs(
      segments, left, columns,
      [&](std::int64_t p, std::int64_t c, float before) {
        return before + element(row_of(x, p), c);
      },
      [&](std::int64_t i, std::int64_t c, float sum, std::int64_t count) {
        row_of(out, i)[c] = count > 0 ? sum / static_cast<float>(count) : 0.0f;
      });
}

__global__ void sum_kernel(RowsIn x, std::int64_t columns, Segments segments, Rows left,
                           RowsOut out) {
  sum_over_pairs(
      segments, left, columns,
      [&](std::int64_t p, std::int64_t c, float before) {
        return before + element(row_of(x, p), c);
      },
      [&](std::int64_t i, std::int64_t c, float sum, std::int64_t) { row_of(out, i)[c] = sum; });
}

struct MaxOrNaN {
  __device__ float operator()(float a, float b) const { return b > a || b != b ? b : a; }
};

/// A thread group for each column of each left row.
template <int kThreads, bool kLogSumExp>
__global__ void reduce_kernel(RowsIn x, std::int64_t columns, Segments segments, Rows left,
                              RowsOut out) {
  const std::int64_t group = ThreadGroup<kThreads>::index();
  const std::int64_t i = group / columns, c = group % columns;
  if (i >= *left.live) return;
  const std::int64_t begin = segments.begin[i], count = segments.begin[i + 1] - begin;
  const StridedVector from{count > 0 ? row_of(x, begin) + c : nullptr, x.stride};
  float result = -INFINITY;
  if (kLogSumExp) {
    const OnlineSoftmax all = online_softmax<kThreads>(from, count);
    result = logf(all.sum) + all.shift();
  } else {
    for (std::int64_t p = ThreadGroup<kThreads>::thread_rank(); p < count; p += kThreads)
      result = MaxOrNaN()(result, from[p]);
    result = ThreadGroup<kThreads>::reduce(result, MaxOrNaN());
  }
  if (ThreadGroup<kThreads>::thread_rank() == 0) row_of(out, i)[c] = result;
}

LaunchConfig config_for_sums(const Rows& left, std::int64_t columns) {
  return {.grid = dim3(static_cast<std::uint32_t>(left.max_live), blocks_for(columns, kWarpSize)),
          .block = dim3(kSlices * kWarpSize)};
}

}  // namespace

void segment_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                     const Segments& segments, const Rows& left, const RowsOut& out) {
  launch(stream, segment_softmax_kernel<kWarpSize, false>,
         config_for_groups<kWarpSize>(left.max_live * heads), x, heads, segments, left, out);
}

void segment_log_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                         const Segments& segments, const Rows& left, const RowsOut& out) {
  launch(stream, segment_softmax_kernel<kShortlistThreads, true>,
         config_for_groups<kShortlistThreads>(left.max_live * heads), x, heads, segments, left,
         out);
}

void mix_rows(cudaStream_t stream, const RowsIn& weights, const RowsIn& x, std::int64_t columns,
              const Segments& segments, const Rows& left, const FloatsOut& out) {
  launch_early(stream, mix_kernel, config_for_sums(left, columns), weights, x,
               columns / weights.columns, columns, segments, left, out);
}

void mean_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
               const Rows& left, const RowsOut& out) {
  launch(stream, mean_kernel, config_for_sums(left, columns), x, columns, segments, left, out);
}

void sum_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
              const Rows& left, const RowsOut& out) {
  launch(stream, sum_kernel, config_for_sums(left, columns), x, columns, segments, left, out);
}

void max_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
              const Rows& left, const RowsOut& out) {
  launch(stream, reduce_kernel<kWarpSize, false>,
         config_for_groups<kWarpSize>(left.max_live * columns), x, columns, segments, left, out);
}

void segment_log_sum_exp(cudaStream_t stream, const RowsIn& x, std::int64_t columns,
                         const Segments& segments, const Rows& left, const RowsOut& out) {
  launch(stream, reduce_kernel<kWarpSize, true>,
         config_for_groups<kWarpSize>(left.max_live * columns), x, columns, segments, left, out);
}

}  // namespace fuselage::cuda
