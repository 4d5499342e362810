#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

/// Warps of a block that sum slices of the same pairs.
inline constexpr int kSlices = 8;

/// The sum of the sums of kSlices slices: always in this order.
__device__ inline float sum_of_slices(const float (&sums)[kSlices]) {
  float half[kSlices / 2];
#pragma unroll
  for (int s = 0; s < kSlices / 2; ++s) half[s] = sums[s] + sums[s + kSlices / 2];
  return (half[0] + half[2]) + (half[1] + half[3]);
}

/// The sum over the pairs p from `begin` to `end`, for the column of the thread's lane, by a block
/// of kSlices warps, each of which sums a slice of the pairs: f(p, sum) adds the number of p to a
/// sum. The first warp has the result. All threads must call it; f is called only with a column.
/// kLoads of its loads are under way at a time.
template <int kLoads = 4, typename F>
__device__ float slice_sum(std::int64_t begin, std::int64_t end, bool has_column, F f) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int slice = static_cast<int>(threadIdx.x) / kWarpSize;
  float sum = 0;
  if (has_column) {
#pragma unroll kLoads
    for (std::int64_t p = begin + slice; p < end; p += kSlices) sum = f(p, sum);
  }
  __shared__ float sums[kSlices][kWarpSize];
  __syncthreads();  // The first warp may still read the sums of the last call.
  sums[slice][lane] = sum;
  __syncthreads();
  if (slice != 0) return 0;
  float own[kSlices];
#pragma unroll
  for (int s = 0; s < kSlices; ++s) own[s] = sums[s][lane];
  return sum_of_slices(own);
}

}  // namespace fuselage::cuda
