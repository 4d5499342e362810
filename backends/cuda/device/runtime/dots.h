#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/numbers.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

/// Lanes of a warp that share a dot product of vectors of so many elements.
inline int lanes_for_dot(std::int64_t width) { return width <= 128 ? 8 : kWarp; }

/// The dot product of a and b for all of kLanes lanes side by side. Every lane of the warp must
/// come.
template <int kLanes>
__device__ float dot(const Numbers& a, const Numbers& b, std::int64_t width) {
  float sum = 0;
  for (std::int64_t c = threadIdx.x % kLanes; c < width; c += kLanes) sum = fmaf(a[c], b[c], sum);
  return combine_lanes<kLanes>(sum, Sum());
}

}  // namespace fuselage::cuda
