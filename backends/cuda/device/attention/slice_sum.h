#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {

/// Warps of a block that sum slices of the same pairs.
inline constexpr int kSlices = 8;

/// The sum of f(p) over the pairs p from `begin` to `end` for the column of the thread's lane, by a
/// block of kSlices warps, each of which sums a slice of the pairs. The first warp has the result.
/// All threads must call it; f is called only with a column.
template <typename F>
__device__ float slice_sum(std::int64_t begin, std::int64_t end, bool has_column, F f) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int slice = static_cast<int>(threadIdx.x) / kWarpSize;
  float sum = 0;
  if (has_column) {
#pragma unroll 4
    for (std::int64_t p = begin + slice; p < end; p += kSlices) sum += f(p);
  }
  __shared__ float sums[kSlices][kWarpSize];
  __syncthreads();  // The first warp may still read the sums of the last call.
  sums[slice][lane] = sum;
  __syncthreads();
  if (slice != 0) return 0;
#pragma unroll
  for (int s = 1; s < kSlices; ++s) sum += sums[s][lane];
  return sum;
}

}  // namespace fuselage::cuda
