#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/launch_shapes.h"
#include "backends/cuda/device/runtime/numbers.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

// --- Softmax ---

template <int kThreads>
__global__ void softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  log_softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_sum_exp_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  const MaxSum all = max_sum<kThreads>({row_of(x, r)}, columns);
  if (RowTeam<kThreads>::lane() == 0) row_of(out, r)[0] = logf(all.sum) + all.center();
}

// --- Normalization ---

/// Sum over a row of the squares around `center`.
template <int kThreads>
__device__ float sum_of_squares(const Numbers& x, std::int64_t columns, float center) {
  float sum = 0;
  for (std::int64_t c = RowTeam<kThreads>::lane(); c < columns; c += kThreads)
    sum += (x[c] - center) * (x[c] - center);
  return RowTeam<kThreads>::all(sum, Sum());
}

template <int kThreads>
__device__ float sum_of(const Numbers& x, std::int64_t columns) {
  float sum = 0;
  for (std::int64_t c = RowTeam<kThreads>::lane(); c < columns; c += kThreads) sum += x[c];
  return RowTeam<kThreads>::all(sum, Sum());
}

/// to = (x - mean) * inverse * gain + bias.
template <int kThreads>
__device__ void scale_row(const Numbers& x, std::int64_t columns, float mean, float inverse,
                          const NormWeights& weights, float* to) {
  for (std::int64_t c = RowTeam<kThreads>::lane(); c < columns; c += kThreads) {
    const float y = (x[c] - mean) * inverse * weights.gain[c];
    to[c] = weights.bias ? y + weights.bias[c] : y;
  }
}

template <int kThreads>
__device__ void normalize_row(const Numbers& x, std::int64_t columns, const NormWeights& weights,
                              float* to) {
  const auto count = static_cast<float>(columns);
  const float mean = sum_of<kThreads>(x, columns) / count;
  const float variance = sum_of_squares<kThreads>(x, columns, mean) / count;
  scale_row<kThreads>(x, columns, mean, 1.0f / sqrtf(variance + weights.epsilon), weights, to);
}

template <int kThreads>
__global__ void layer_norm_kernel(RowsIn x, NormWeights weights, Rows rows, std::int64_t columns,
                                  RowsOut out) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  normalize_row<kThreads>({row_of(x, r)}, columns, weights, row_of(out, r));
}

template <int kThreads>
__global__ void add_layer_norm_kernel(RowsIn a, RowsIn b, NormWeights weights, Rows rows,
                                      std::int64_t columns, RowsOut out, RowsOut sum) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  const Numbers left{row_of(a, r), a.columns == columns ? 1 : 0};
  const Numbers right{row_of(b, r), b.columns == columns ? 1 : 0};
  float* row = row_of(sum, r);
  // Each thread reads later what it has written itself.
  for (std::int64_t c = RowTeam<kThreads>::lane(); c < columns; c += kThreads)
    row[c] = left[c] + right[c];
  normalize_row<kThreads>({row}, columns, weights, row_of(out, r));
}

template <int kThreads>
__global__ void rms_norm_kernel(RowsIn x, NormWeights weights, Rows rows, std::int64_t columns,
                                RowsOut out) {
  const std::int64_t r = RowTeam<kThreads>::number();
  if (r >= *rows.live) return;
  const Numbers from{row_of(x, r)};
  const float mean = sum_of_squares<kThreads>(from, columns, 0.0f) / static_cast<float>(columns);
  scale_row<kThreads>(from, columns, 0.0f, 1.0f / sqrtf(mean + weights.epsilon), weights,
                      row_of(out, r));
}

}  // namespace

void softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
             const RowsOut& out) {
  with_team(columns, [&](auto threads) {
    launch(stream, softmax_kernel<threads>, spread_teams<threads>(rows.most), x, rows, columns,
           out);
  });
}

void log_softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_team(columns, [&](auto threads) {
    launch(stream, log_softmax_kernel<threads>, spread_teams<threads>(rows.most), x, rows, columns,
           out);
  });
}

void log_sum_exp(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_team(columns, [&](auto threads) {
    launch(stream, log_sum_exp_kernel<threads>, spread_teams<threads>(rows.most), x, rows, columns,
           out);
  });
}

void layer_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                std::int64_t columns, const RowsOut& out) {
  with_team(columns, [&](auto threads) {
    launch(stream, layer_norm_kernel<threads>, spread_teams<threads>(rows.most), x, weights, rows,
           columns, out);
  });
}

void add_layer_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                    const NormWeights& weights, const Rows& rows, std::int64_t columns,
                    const RowsOut& out, const RowsOut& sum) {
  with_team(columns, [&](auto threads) {
    launch(stream, add_layer_norm_kernel<threads>, spread_teams<threads>(rows.most), a, b, weights,
           rows, columns, out, sum);
  });
}

void rms_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
              std::int64_t columns, const RowsOut& out) {
  with_team(columns, [&](auto threads) {
    launch(stream, rms_norm_kernel<threads>, spread_teams<threads>(rows.most), x, weights, rows,
           columns, out);
  });
}

}  // namespace fuselage::cuda
