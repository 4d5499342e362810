#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// The exclusive prefix sum of `value` over the threads of a one-dimensional block of whole warps,
/// and in `total` the sum of the block. All threads must call it.
__device__ inline std::int32_t block_prefix_sum(std::int32_t value, std::int32_t& total) {
  __shared__ std::int32_t sums[kWarpSize];
  const std::int32_t lane = lane_id();
  const std::int32_t warp = static_cast<std::int32_t>(threadIdx.x / kWarpSize);
  std::int32_t sum = value;
  for (std::int32_t distance = 1; distance < kWarpSize; distance *= 2) {
    const std::int32_t before =
        __shfl_up_sync(kFullWarpMask, sum, static_cast<std::uint32_t>(distance));
    if (lane >= distance) sum += before;
  }
  __syncthreads();  // A thread may still read the sums of the last call.
  if (lane == kWarpSize - 1) sums[warp] = sum;
  __syncthreads();
  total = 0;
  std::int32_t before = 0;
  for (std::int32_t w = 0; w < static_cast<std::int32_t>(blockDim.x / kWarpSize); ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  return before + sum - value;
}

/// The exclusive prefix sum of count(0) … count(n - 1): calls write(i, sum) for each i and returns
/// the total. All threads of the block must call it.
template <typename Count, typename Write>
__device__ std::int32_t prefix_sum(std::int32_t n, const Count& count, const Write& write) {
  std::int32_t sum = 0;
  const auto threads = static_cast<std::int32_t>(blockDim.x);
  for (std::int32_t start = 0; start < n; start += threads) {
    const std::int32_t i = start + static_cast<std::int32_t>(threadIdx.x);
    std::int32_t total = 0;
    const std::int32_t before = block_prefix_sum(i < n ? count(i) : 0, total);
    if (i < n) write(i, sum + before);
    sum += total;
  }
  return sum;
}

}  // namespace fuselage::cuda
