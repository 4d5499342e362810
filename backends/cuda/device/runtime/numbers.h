#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Numbers at equal distances; zeros where there is no data.
struct Numbers {
  const float* data = nullptr;
  std::int64_t stride = 1;

  __device__ float operator[](std::int64_t i) const { return data ? data[i * stride] : 0.0f; }
};

}  // namespace fuselage::cuda
