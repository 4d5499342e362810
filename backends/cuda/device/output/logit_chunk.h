#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/warp_best.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// A warp's chunk of a row's logits in registers. A lane's own are in vectors of 16 bytes.

/// Logits that a lane has.
inline constexpr std::int32_t kOwn = 32;
static_assert(kBestChunk == kOwn * kWarp);

/// Column of the i-th of them.
template <typename T>
__device__ std::int32_t column_of(std::int32_t chunk, std::int32_t i) {
  constexpr std::int32_t kVector = 16 / sizeof(T);
  return chunk * kBestChunk + (i / kVector * kWarp + lane_of_thread()) * kVector + i % kVector;
}

__device__ inline bool is_aligned(const void* place) {
  return (reinterpret_cast<std::uintptr_t>(place) & 15) == 0;
}

/// Those of a row, null where it is zeros; -infinity behind the last column.
template <typename T>
__device__ void load_chunk(const T* row, std::int32_t columns, std::int32_t chunk,
                           float (&x)[kOwn]) {
  constexpr std::int32_t kVector = 16 / sizeof(T);
  if (row && is_aligned(row) && (chunk + 1) * kBestChunk <= columns) {
    uint4 vectors[kOwn / kVector];
#pragma unroll
    for (std::int32_t v = 0; v < kOwn / kVector; ++v)
      vectors[v] =
          load_once(reinterpret_cast<const uint4*>(row + column_of<T>(chunk, v * kVector)));
#pragma unroll
    for (std::int32_t v = 0; v < kOwn / kVector; ++v) {
      T elements[kVector];
      memcpy(static_cast<void*>(elements), &vectors[v], sizeof elements);
#pragma unroll
      for (std::int32_t i = 0; i < kVector; ++i) x[v * kVector + i] = as_float(elements[i]);
    }
  } else {
#pragma unroll
    for (std::int32_t i = 0; i < kOwn; ++i) {
      const std::int32_t column = column_of<T>(chunk, i);
      x[i] = column < columns ? as_float(element(row, column)) : kLowest;
    }
  }
}

/// Adds what belongs to their columns.
template <typename T>
__device__ void add_bias(const float* bias, std::int32_t columns, std::int32_t chunk,
                         float (&x)[kOwn]) {
  if (is_aligned(bias) && (chunk + 1) * kBestChunk <= columns) {
#pragma unroll
    for (std::int32_t i = 0; i < kOwn; i += 4) {
      const float4 b = __ldg(reinterpret_cast<const float4*>(bias + column_of<T>(chunk, i)));
      x[i] += b.x;
      x[i + 1] += b.y;
      x[i + 2] += b.z;
      x[i + 3] += b.w;
    }
  } else {
#pragma unroll
    for (std::int32_t i = 0; i < kOwn; ++i) {
      const std::int32_t column = column_of<T>(chunk, i);
      if (column < columns) x[i] += __ldg(bias + column);
    }
  }
}

__device__ inline float largest(const float (&x)[kOwn]) {
  float top = kLowest;
#pragma unroll
  for (std::int32_t i = 0; i < kOwn; ++i) top = fmaxf(top, x[i]);
  return top;
}

/// The sum of a warp's exponentials, given the largest logit of each lane.
__device__ inline ExpSum sum_of_chunk(const float (&x)[kOwn], float own_top) {
  const float top = combine_lanes<kWarp>(own_top, Larger());
  const float center = center_of(top);
  float sums[4] = {};
#pragma unroll
  for (std::int32_t i = 0; i < kOwn; ++i) sums[i % 4] += exp_below(x[i], center);
  return {top, combine_lanes<kWarp>((sums[0] + sums[1]) + (sums[2] + sums[3]), Sum())};
}

}  // namespace fuselage::cuda
