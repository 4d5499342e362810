#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/online_softmax.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

// --- Softmax ---

template <int kThreads>
__global__ void softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_softmax_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  log_softmax_of<kThreads>({row_of(x, r)}, columns, row_of(out, r), 1);
}

template <int kThreads>
__global__ void log_sum_exp_kernel(RowsIn x, Rows rows, std::int64_t columns, RowsOut out) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  const OnlineSoftmax all = online_softmax<kThreads>({row_of(x, r)}, columns);
  if (ThreadGroup<kThreads>::thread_rank() == 0) row_of(out, r)[0] = logf(all.sum) + all.shift();
}

// --- Normalization ---

/// Elements of a row that a thread holds in registers. All loads of a row, its gain and its bias
/// are issued together. Rows that are longer are read several times.
constexpr int kHeldElements = 8;

/// A thread's elements of a row, its gain and its bias in registers: element k is in column
/// rank + k * kThreads.
template <int kThreads>
struct HeldRow {
  float elements[kHeldElements], gains[kHeldElements], biases[kHeldElements];

  template <typename F>
  __device__ static void for_each(std::int64_t columns, F f) {
#pragma unroll
    for (int k = 0; k < kHeldElements; ++k) {
      const std::int64_t c = ThreadGroup<kThreads>::thread_rank() + k * kThreads;
      if (c < columns) f(k, c);
    }
  }
  __device__ float get(int k, std::int64_t) const { return elements[k]; }
  __device__ float gain(int k, std::int64_t, const NormWeights&) const { return gains[k]; }
  __device__ float bias(int k, std::int64_t, const NormWeights&) const { return biases[k]; }
};

/// A row in memory, of any length. Each thread reads only elements that it has set.
template <int kThreads>
struct StoredRow {
  const float* elements;

  template <typename F>
  __device__ static void for_each(std::int64_t columns, F f) {
    for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < columns; c += kThreads) f(0, c);
  }
  __device__ float get(int, std::int64_t c) const { return elements ? elements[c] : 0.0f; }
  __device__ float gain(int, std::int64_t c, const NormWeights& weights) const {
    return weights.gain[c];
  }
  __device__ float bias(int, std::int64_t c, const NormWeights& weights) const {
    return weights.bias[c];
  }
};

/// The sum of (x - center)² over a row.
template <int kThreads, typename Row>
__device__ float sum_of_squares(const Row& x, std::int64_t columns, float center) {
  float sum = 0;
  Row::for_each(columns, [&](int k, std::int64_t c) {
    sum += (x.get(k, c) - center) * (x.get(k, c) - center);
  });
  return ThreadGroup<kThreads>::reduce(sum, Sum());
}

template <int kThreads, typename Row>
__device__ float sum_of(const Row& x, std::int64_t columns) {
  float sum = 0;
  Row::for_each(columns, [&](int k, std::int64_t c) { sum += x.get(k, c); });
  return ThreadGroup<kThreads>::reduce(sum, Sum());
}

/// to = (x - mean) * inverse * gain + bias.
template <typename Row>
__device__ void scale_row(const Row& x, std::int64_t columns, float mean, float inverse,
                          const NormWeights& weights, const FloatRow& to) {
  Row::for_each(columns, [&](int k, std::int64_t c) {
    const float y = (x.get(k, c) - mean) * inverse * x.gain(k, c, weights);
    to.put(c, weights.bias ? y + x.bias(k, c, weights) : y);
  });
}

struct LayerNorm {
  template <int kThreads, typename Row>
  static __device__ void run(const Row& x, std::int64_t columns, const NormWeights& weights,
                             const FloatRow& to) {
    const auto count = static_cast<float>(columns);
    const float mean = sum_of<kThreads>(x, columns) / count;
    const float variance = sum_of_squares<kThreads>(x, columns, mean) / count;
    scale_row(x, columns, mean, 1.0f / sqrtf(variance + weights.epsilon), weights, to);
  }
};

struct RmsNorm {
  template <int kThreads, typename Row>
  static __device__ void run(const Row& x, std::int64_t columns, const NormWeights& weights,
                             const FloatRow& to) {
    const float mean = sum_of_squares<kThreads>(x, columns, 0.0f) / static_cast<float>(columns);
    scale_row(x, columns, 0.0f, 1.0f / sqrtf(mean + weights.epsilon), weights, to);
  }
};

template <typename Norm, int kThreads>
__global__ void norm_kernel(RowsIn x, NormWeights weights, Rows rows, std::int64_t columns,
                            FloatsOut out) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  Norm::template run<kThreads>(StoredRow<kThreads>{row_of(x, r)}, columns, weights, row_of(out, r));
}

/// The operands of a sum: an operand with one column is broadcast.
struct Summands {
  StridedVector left, right;

  __device__ Summands(const RowsIn& a, const RowsIn& b, std::int64_t r, std::int64_t columns)
      : left{row_of(a, r), a.columns == columns ? 1 : 0},
        right{row_of(b, r), b.columns == columns ? 1 : 0} {}
  __device__ float operator[](std::int64_t c) const { return left[c] + right[c]; }
};

template <typename Norm, int kThreads>
__global__ void add_norm_kernel(RowsIn a, RowsIn b, NormWeights weights, Rows rows,
                                std::int64_t columns, FloatsOut out, FloatsOut sum) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  using Row = StoredRow<kThreads>;
  const Summands summands(a, b, r, columns);
  const FloatRow row = row_of(sum, r);
  // No barrier: each thread reads only elements that it has written.
  Row::for_each(columns, [&](int, std::int64_t c) { row.put(c, summands[c]); });
  Norm::template run<kThreads>(Row{row.floats}, columns, weights, row_of(out, r));
}

/// The same for rows that registers hold. The floats of the sum are stored if `stores_sum`.
template <typename Norm, int kThreads>
__global__ void add_norm_held_kernel(RowsIn a, RowsIn b, NormWeights weights, Rows rows,
                                     std::int64_t columns, FloatsOut out, FloatsOut sum,
                                     bool stores_sum) {
  start_early();
  const std::int64_t r = ThreadGroup<kThreads>::index();
  if (r >= *rows.live) return;
  using Row = HeldRow<kThreads>;
  const Summands summands(a, b, r, columns);
  Row row;
  Row::for_each(columns, [&](int k, std::int64_t c) {
    row.elements[k] = summands[c];
    row.gains[k] = weights.gain[c];
    row.biases[k] = weights.bias ? weights.bias[c] : 0.0f;
  });
  FloatRow to = row_of(sum, r);
  if (!stores_sum) to.floats = nullptr;
  Row::for_each(columns, [&](int k, std::int64_t c) { to.put(c, row.get(k, c)); });
  Norm::template run<kThreads>(row, columns, weights, row_of(out, r));
}

template <typename Norm>
void launch_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                 std::int64_t columns, const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch_early(stream, norm_kernel<Norm, threads>, config_for_groups<threads>(rows.max_live), x,
                 weights, rows, columns, FloatsOut{.floats = out, .rounded = {}});
  });
}

template <typename Norm>
void launch_add_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                     const NormWeights& weights, const Rows& rows, std::int64_t columns,
                     const FloatsOut& out, const FloatsOut& sum, bool stores_sum) {
  with_group(columns, [&](auto threads) {
    const LaunchConfig config = config_for_groups<threads>(rows.max_live);
    if (columns <= threads * kHeldElements)
      launch_early(stream, add_norm_held_kernel<Norm, threads>, config, a, b, weights, rows,
                   columns, out, sum, stores_sum);
    else
      launch_early(stream, add_norm_kernel<Norm, threads>, config, a, b, weights, rows, columns,
                   out, sum);
  });
}

}  // namespace

void softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
             const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch_early(stream, softmax_kernel<threads>, config_for_groups<threads>(rows.max_live), x,
                 rows, columns, out);
  });
}

void log_softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch_early(stream, log_softmax_kernel<threads>, config_for_groups<threads>(rows.max_live), x,
                 rows, columns, out);
  });
}

void log_sum_exp(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out) {
  with_group(columns, [&](auto threads) {
    launch_early(stream, log_sum_exp_kernel<threads>, config_for_groups<threads>(rows.max_live), x,
                 rows, columns, out);
  });
}

void layer_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                std::int64_t columns, const RowsOut& out) {
  launch_norm<LayerNorm>(stream, x, weights, rows, columns, out);
}

void add_layer_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                    const NormWeights& weights, const Rows& rows, std::int64_t columns,
                    const FloatsOut& out, const FloatsOut& sum, bool stores_sum) {
  launch_add_norm<LayerNorm>(stream, a, b, weights, rows, columns, out, sum, stores_sum);
}

void rms_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
              std::int64_t columns, const RowsOut& out) {
  launch_norm<RmsNorm>(stream, x, weights, rows, columns, out);
}

void add_rms_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b, const NormWeights& weights,
                  const Rows& rows, std::int64_t columns, const FloatsOut& out,
                  const FloatsOut& sum, bool stores_sum) {
  launch_add_norm<RmsNorm>(stream, a, b, weights, rows, columns, out, sum, stores_sum);
}

}  // namespace fuselage::cuda
