#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/thread_group.h"
#include "bench/cuda/separate_output.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 512;
using Group = ThreadGroup<kThreads>;

struct Better {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const {
    return max(a, b);
  }
};

/// A key with the order of values, then of descending columns.
__device__ unsigned long long key_of(float value, std::int32_t column) {
  const unsigned bits = __float_as_uint(value);
  const unsigned ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 |
         (0xffffffffu - static_cast<unsigned>(column));
}

__device__ inline unsigned long long shuffle_xor(unsigned long long value, int offset) {
  return __shfl_xor_sync(kFullWarpMask, value, offset);
}

/// The largest key of the block, for all threads.
__device__ unsigned long long best_key(unsigned long long key) {
  __shared__ unsigned long long parts[kThreads / kWarpSize];
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    key = Better()(key, shuffle_xor(key, offset));
  __syncthreads();
  if (threadIdx.x % kWarpSize == 0) parts[threadIdx.x / kWarpSize] = key;
  __syncthreads();
  for (const unsigned long long part : parts) key = Better()(key, part);
  return key;
}

__global__ void __launch_bounds__(kThreads) add_bias_to_row(LogitMatrix in, float* out) {
  const std::int64_t row = std::int64_t{blockIdx.x} * in.columns;
  for (int c = Group::thread_rank(); c < in.columns; c += kThreads)
    out[row + c] = in.logits[row + c] + in.bias[c];
}

__global__ void __launch_bounds__(kThreads) normalize_row(float* scores, std::int32_t columns) {
  float* row = scores + std::int64_t{blockIdx.x} * columns;
  float top = kLowest;
  for (int c = Group::thread_rank(); c < columns; c += kThreads) top = fmaxf(top, row[c]);
  top = Group::reduce(top, Max());
  float sum = 0;
  for (int c = Group::thread_rank(); c < columns; c += kThreads) sum += expf(row[c] - top);
  const float log_sum = logf(Group::reduce(sum, Sum()));
  for (int c = Group::thread_rank(); c < columns; c += kThreads) row[c] = row[c] - top - log_sum;
}

__global__ void __launch_bounds__(kThreads)
    find_best_of_row(float* scores, std::int32_t columns, std::int32_t k, float* values,
                     std::int32_t* ids) {
  float* row = scores + std::int64_t{blockIdx.x} * columns;
  for (std::int32_t rank = 0; rank < k; ++rank) {
    unsigned long long best = 0;
    for (int c = Group::thread_rank(); c < columns; c += kThreads)
      best = max(best, key_of(row[c], c));
    best = best_key(best);
    const auto column = static_cast<std::int32_t>(0xffffffffu - static_cast<unsigned>(best));
    if (threadIdx.x == 0) {
      const std::int64_t place = std::int64_t{blockIdx.x} * k + rank;
      values[place] = row[column];
      ids[place] = column;
      row[column] = kLowest;
    }
    __syncthreads();
  }
}

__device__ float4 sum_of(const LogitMatrix& in, std::int64_t row, int c) {
  const float4 x = *reinterpret_cast<const float4*>(in.logits + row + c);
  const float4 b = __ldg(reinterpret_cast<const float4*>(in.bias + c));
  return {x.x + b.x, x.y + b.y, x.z + b.z, x.w + b.w};
}

/// An online normalizer (Milakov and Gimelshein 2018), four columns at a time.
__global__ void __launch_bounds__(kThreads) find_normalizer(LogitMatrix in, float2* normalizers) {
  const std::int64_t row = std::int64_t{blockIdx.x} * in.columns;
  float top = kLowest;
  float sum = 0;
  for (int c = 4 * Group::thread_rank(); c < in.columns; c += 4 * kThreads) {
    const float4 x = sum_of(in, row, c);
    const float larger = fmaxf(fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)), top);
    sum = sum * exp_relative(top, larger) + exp_relative(x.x, larger) + exp_relative(x.y, larger) +
          exp_relative(x.z, larger) + exp_relative(x.w, larger);
    top = larger;
  }
  const float all_top = Group::reduce(top, Max());
  const float all_sum = Group::reduce(sum * exp_relative(top, all_top), Sum());
  if (threadIdx.x == 0) normalizers[blockIdx.x] = {all_top, logf(all_sum)};
}

__global__ void __launch_bounds__(kThreads)
    write_scores(LogitMatrix in, const float2* normalizers, float* scores) {
  const std::int64_t row = std::int64_t{blockIdx.x} * in.columns;
  const float2 normalizer = normalizers[blockIdx.x];
  for (int c = 4 * Group::thread_rank(); c < in.columns; c += 4 * kThreads) {
    const float4 x = sum_of(in, row, c);
    const float top = normalizer.x;
    const float log_sum = normalizer.y;
    *reinterpret_cast<float4*>(scores + row + c) = {x.x - top - log_sum, x.y - top - log_sum,
                                                    x.z - top - log_sum, x.w - top - log_sum};
  }
}

LaunchConfig block_a_row(std::int64_t rows) {
  return {dim3(static_cast<unsigned>(rows)), dim3(kThreads)};
}

}  // namespace

void add_bias(cudaStream_t stream, const LogitMatrix& in, float* out) {
  launch(stream, add_bias_to_row, block_a_row(in.rows), in, out);
}

void log_softmax_in_passes(cudaStream_t stream, float* scores, std::int64_t rows,
                           std::int32_t columns) {
  launch(stream, normalize_row, block_a_row(rows), scores, columns);
}

void best_in_passes(cudaStream_t stream, float* scores, std::int64_t rows, std::int32_t columns,
                    std::int32_t k, float* values, std::int32_t* ids) {
  launch(stream, find_best_of_row, block_a_row(rows), scores, columns, k, values, ids);
}

void log_softmax_in_two_reads(cudaStream_t stream, const LogitMatrix& in, float* normalizers,
                              float* scores) {
  auto* pairs = reinterpret_cast<float2*>(normalizers);
  launch(stream, find_normalizer, block_a_row(in.rows), in, pairs);
  launch(stream, write_scores, block_a_row(in.rows), in, pairs, scores);
}

}  // namespace fuselage::cuda
