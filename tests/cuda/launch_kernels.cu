#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/shared_memory.h"
#include "tests/cuda/launch_kernels.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kAllLanes = 0xffffffffu;

__global__ void reverse(const float* in, float* out, std::int32_t n) {
  float* shared = dynamic_shared<float>();
  for (std::int32_t i = threadIdx.x; i < n; i += blockDim.x) shared[i] = in[i];
  __syncthreads();
  for (std::int32_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = shared[n - 1 - i];
}

__device__ float warp_sum(float x) {
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(kAllLanes, x, lanes);
  return x;
}

__global__ void __launch_bounds__(256)
    row_sums(const float* __restrict__ in, float* __restrict__ out, std::int32_t n) {
  __shared__ float sums[8];
  const float* row = in + std::int64_t{n} * blockIdx.x;
  float sum = 0;
  for (std::int32_t i = threadIdx.x; i < n; i += 256) sum += __ldg(row + i);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(threadIdx.x < 8 ? sums[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void numbers(std::int32_t* out) {
  const std::int32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const std::int32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const std::int32_t threads = blockDim.x * blockDim.y * blockDim.z;
  out[std::int64_t{block} * threads + thread] = thread + 1000 * block;
}

__global__ void race(float* out) {
  __shared__ float values[1024];
  values[threadIdx.x] = 1;
  out[threadIdx.x] = values[(threadIdx.x + 1) % blockDim.x];
}

__global__ void skipped_barrier() {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
}

__global__ void two_barriers() {
  if (threadIdx.x < blockDim.x / 2) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void ended_lane(float* out) {
  if (threadIdx.x % 32 == 5) return;
  out[threadIdx.x] = __shfl_sync(kAllLanes, 1.0f, 0);
}

__global__ void absent_lanes(float* out) { out[0] = __shfl_sync(kAllLanes, 1.0f, 0); }

__global__ void bad_source(float* out) {
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffu, 1.0f, 16);
}

__global__ void overrun(float* out) { out[threadIdx.x + 1] = 1; }

__global__ void shared_overrun() { dynamic_shared<float>()[threadIdx.x + 1] = 1; }

__global__ void unset_shared(float* out) {
  __shared__ float values[1024];
  out[threadIdx.x] = values[threadIdx.x];
}

}  // namespace

void launch_reverse(cudaStream_t stream, const float* in, float* out, std::int32_t n,
                    std::uint32_t threads) {
  const Spread spread{{1}, {threads}, n * sizeof(float)};
  launch(stream, reverse, spread, in, out, n);
}

void launch_row_sums(cudaStream_t stream, const float* in, float* out, std::uint32_t rows,
                     std::int32_t n) {
  launch(stream, row_sums, {{rows}, {256}}, in, out, n);
}

void launch_numbers(cudaStream_t stream, std::int32_t* out, dim3 grid, dim3 block) {
  launch(stream, numbers, {grid, block}, out);
}

void launch_fault(cudaStream_t stream, Fault fault, float* out, std::uint32_t threads) {
  const Spread spread{{1}, {threads}, 128};
  switch (fault) {
    case Fault::race:
      return launch(stream, race, spread, out);
    case Fault::skipped_barrier:
      return launch(stream, skipped_barrier, spread);
    case Fault::two_barriers:
      return launch(stream, two_barriers, spread);
    case Fault::ended_lane:
      return launch(stream, ended_lane, spread, out);
    case Fault::absent_lanes:
      return launch(stream, absent_lanes, spread, out);
    case Fault::bad_source:
      return launch(stream, bad_source, spread, out);
    case Fault::overrun:
      return launch(stream, overrun, spread, out);
    case Fault::shared_overrun:
      return launch(stream, shared_overrun, spread);
    case Fault::unset_shared:
      return launch(stream, unset_shared, spread, out);
  }
}

}  // namespace fuselage::cuda
