#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"
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

}  // namespace

void launch_reverse(cudaStream_t stream, const float* in, float* out, std::int32_t n,
                    std::uint32_t threads) {
  const LaunchConfig config{{1}, {threads}, n * sizeof(float)};
  launch(stream, reverse, config, in, out, n);
}

void launch_row_sums(cudaStream_t stream, const float* in, float* out, std::uint32_t rows,
                     std::int32_t n) {
  launch(stream, row_sums, {{rows}, {256}}, in, out, n);
}

void launch_numbers(cudaStream_t stream, std::int32_t* out, dim3 grid, dim3 block) {
  launch(stream, numbers, {grid, block}, out);
}

}  // namespace fuselage::cuda
