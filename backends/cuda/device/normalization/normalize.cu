#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

// --- Softmax ---

template <int kThreads>
__global__ void softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  log_softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_sum_exp_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  const OnlineSoftmax all = online_softmax<kThreads>({row_of(x, r)}, columns);
  if (ThreadGroup<kThreads>::thread_rank() == 0) row_of(out, r)[0] = logf(all.sum) + all.shift();
}

// --- Normalization ---

/// The sum of (x - center)² over a row.
template <int kThreads>
__device__ float sum_of_squares(const StridedVector& x, std::int64_t columns, float center) {
  float sum = 0;
  for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < columns; c += kThreads)
    sum += (x[c] - center) * (x[c] - center);
  return ThreadGroup<kThreads>::reduce(sum, Sum());
}

template <int kThreads>
__device__ float sum_of(const StridedVector& x, std::int64_t columns) {
  float sum = 0;
  for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < columns; c += kThreads)
    sum += x[c];
  return ThreadGroup<kThreads>::reduce(sum, Sum());
}

/// to = (x - mean) * inverse * gain + bias.
template <int kThreads>
__device__ void scale_row(const StridedVector& x, std::int64_t columns, float mean, float inverse,
                          const NormWeights& weights, const FloatRow& to) {
  for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < columns; c += kThreads) {
    const float y = (x[c] - mean) * inverse * weights.gain[c];
    to.put(c, weights.bias ? y + weights.bias[c] : y);
  }
}

struct LayerNorm {
  template <int kThreads>
  static __device__ void run(const StridedVector& x, std::int64_t columns,
                             const NormWeights& weights, const FloatRow& to) {
    const auto count = static_cast<float>(columns);
    const float mean = sum_of<kThreads>(x, columns) / count;
    const float variance = sum_of_squares<kThreads>(x, columns, mean) / count;
    scale_row<kThreads>(x, columns, mean, 1.0f / sqrtf(variance + weights.epsilon), weights, to);
  }
};

struct RmsNorm {
  template <int kThreads>
  static __device__ void run(const StridedVector& x, std::int64_t columns,
                             const NormWeights& weights, const FloatRow& to) {
    const float mean = sum_of_squares<kThreads>(x, columns, 0.0f) / static_cast<float>(columns);
    scale_row<kThreads>(x, columns, 0.0f, 1.0f / sqrtf(mean + weights.epsilon), weights, to);
  }
};

template <typename Norm, int kThreads>
__global__ void norm_kernel(RowsIn x, NormWeights weights, Rows rows, std::int64_t columns,
                            FloatsOut out) {
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  Norm::template run<kThreads>({row_of(x, r)}, columns, weights, row_of(out, r));
}

template <typename Norm, int kThreads>
__global__ void add_norm_kernel(RowsIn a, RowsIn b, NormWeights weights, Rows rows,
                                std::int64_t columns, FloatsOut out, FloatsOut sum) {
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  const StridedVector left{row_of(a, r), a.columns == columns ? 1 : 0};
  const StridedVector right{row_of(b, r), b.columns == columns ? 1 : 0};
  const FloatRow row = row_of(sum, r);
  // No barrier: each thread reads only elements that it has written.
  for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < columns; c += kThreads)
    row.put(c, left[c] + right[c]);
  Norm::template run<kThreads>({row.floats}, columns, weights, row_of(out, r));
}

template <typename Norm>
void launch_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                 std::int64_t columns, const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch(stream, norm_kernel<Norm, threads>, config_for_groups<threads>(rows.max_live), x,
           weights, rows, columns, FloatsOut{.floats = out, .rounded = {}});
  });
}

template <typename Norm>
void launch_add_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                     const NormWeights& weights, const Rows& rows, std::int64_t columns,
                     const FloatsOut& out, const FloatsOut& sum) {
  with_group(columns, [&](auto threads) {
    launch(stream, add_norm_kernel<Norm, threads>, config_for_groups<threads>(rows.max_live), a, b,
           weights, rows, columns, out, sum);
  });
}

}  // namespace

void softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
             const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch(stream, softmax_kernel<threads>, config_for_groups<threads>(rows.max_live), x, rows,
           columns, out);
  });
}

void log_softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch(stream, log_softmax_kernel<threads>, config_for_groups<threads>(rows.max_live), x, rows,
           columns, out);
  });
}

void log_sum_exp(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch(stream, log_sum_exp_kernel<threads>, config_for_groups<threads>(rows.max_live), x, rows,
           columns, out);
  });
}

void layer_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                std::int64_t columns, const RowsOut& out) {
  launch_norm<LayerNorm>(stream, x, weights, rows, columns, out);
}

void add_layer_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                    const NormWeights& weights, const Rows& rows, std::int64_t columns,
                    const FloatsOut& out, const FloatsOut& sum) {
  launch_add_norm<LayerNorm>(stream, a, b, weights, rows, columns, out, sum);
}

void rms_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
              std::int64_t columns, const RowsOut& out) {
  launch_norm<RmsNorm>(stream, x, weights, rows, columns, out);
}

void add_rms_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b, const NormWeights& weights,
                  const Rows& rows, std::int64_t columns, const FloatsOut& out,
                  const FloatsOut& sum) {
  launch_add_norm<RmsNorm>(stream, a, b, weights, rows, columns, out, sum);
}

}  // namespace fuselage::cuda
