#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// Sum of `value` over the threads before this one, and in `total` over all threads of a
/// one-dimensional block of whole warps. All of them must call it.
__device__ inline std::int32_t sum_before(std::int32_t value, std::int32_t& total) {
  __shared__ std::int32_t sums[kWarp];
  const std::int32_t lane = lane_of_thread();
  const std::int32_t warp = static_cast<std::int32_t>(threadIdx.x / kWarp);
  std::int32_t sum = value;
  for (std::int32_t distance = 1; distance < kWarp; distance *= 2) {
    const std::int32_t before =
        __shfl_up_sync(kFullWarp, sum, static_cast<std::uint32_t>(distance));
    if (lane >= distance) sum += before;
  }
  __syncthreads();  // whoever reads the sums of an earlier call is done
  if (lane == kWarp - 1) sums[warp] = sum;
  __syncthreads();
  total = 0;
  std::int32_t before = 0;
  for (std::int32_t w = 0; w < static_cast<std::int32_t>(blockDim.x / kWarp); ++w) {
    if (w < warp) before += sums[w];
    total += sums[w];
  }
  return before + sum - value;
}

/// Gives each i in 0 … n - 1 the sum of count(0) … count(i - 1) by calling write(i, sum); returns
/// the sum of all. Work of a whole block, as for sum_before().
template <typename Count, typename Write>
__device__ std::int32_t running_sum(std::int32_t n, const Count& count, const Write& write) {
  std::int32_t sum = 0;
  const auto threads = static_cast<std::int32_t>(blockDim.x);
  for (std::int32_t start = 0; start < n; start += threads) {
    const std::int32_t i = start + static_cast<std::int32_t>(threadIdx.x);
    std::int32_t total = 0;
    const std::int32_t before = sum_before(i < n ? count(i) : 0, total);
    if (i < n) write(i, sum + before);
    sum += total;
  }
  return sum;
}

}  // namespace fuselage::cuda
