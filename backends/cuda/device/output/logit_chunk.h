#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// A chunk of a row's logits in the registers of a warp. Lanes load vectors of 16 bytes.

inline constexpr std::int32_t kLogitsPerLane = 32;
static_assert(kBestChunk == kLogitsPerLane * kWarpSize);

/// The column of the lane's i-th logit.
template <typename T>
__device__ std::int32_t column_of(std::int32_t chunk, std::int32_t i) {
  constexpr std::int32_t kVector = 16 / sizeof(T);
  return chunk * kBestChunk + (i / kVector * kWarpSize + lane_id()) * kVector + i % kVector;
}

__device__ inline bool is_aligned(const void* address) {
  return (reinterpret_cast<std::uintptr_t>(address) & 15) == 0;
}

/// A chunk of a row on its way from memory: the vectors of a lane.
template <typename T>
struct ChunkInFlight {
  static constexpr std::int32_t kVector = 16 / sizeof(T);
  static constexpr std::int32_t kVectors = kLogitsPerLane / kVector;

  uint4 vectors[kVectors];

  /// Whether the chunk is read by vectors; else finish() reads it by elements.
  __device__ static bool is_whole(const T* row, std::int32_t columns, std::int32_t chunk) {
    return row && is_aligned(row) && (chunk + 1) * kBestChunk <= columns;
  }

  /// Begins the loads of a chunk.
  __device__ void begin(const T* row, std::int32_t columns, std::int32_t chunk) {
    if (!is_whole(row, columns, chunk)) return;
#pragma unroll
    for (std::int32_t v = 0; v < kVectors; ++v)
      vectors[v] =
          load_once(reinterpret_cast<const uint4*>(row + column_of<T>(chunk, v * kVector)));
  }

  /// The logits of the chunk that was begun; -infinity past the last column. A null row is zeros.
  __device__ void finish(const T* row, std::int32_t columns, std::int32_t chunk,
                         float (&x)[kLogitsPerLane]) const {
    if (is_whole(row, columns, chunk)) {
#pragma unroll
      for (std::int32_t v = 0; v < kVectors; ++v) {
        T elements[kVector];
        memcpy(static_cast<void*>(elements), &vectors[v], sizeof elements);
#pragma unroll
        for (std::int32_t i = 0; i < kVector; ++i) x[v * kVector + i] = as_float(elements[i]);
      }
      return;
    }
#pragma unroll
    for (std::int32_t i = 0; i < kLogitsPerLane; ++i) {
      const std::int32_t column = column_of<T>(chunk, i);
      x[i] = column < columns ? as_float(element(row, column)) : kLowest;
    }
  }
};

/// Adds the bias of each column.
template <typename T>
__device__ void add_bias(const float* bias, std::int32_t columns, std::int32_t chunk,
                         float (&x)[kLogitsPerLane]) {
  if (is_aligned(bias) && (chunk + 1) * kBestChunk <= columns) {
#pragma unroll
    for (std::int32_t i = 0; i < kLogitsPerLane; i += 4) {
      const float4 b = __ldg(reinterpret_cast<const float4*>(bias + column_of<T>(chunk, i)));
      x[i] += b.x;
      x[i + 1] += b.y;
      x[i + 2] += b.z;
      x[i + 3] += b.w;
    }
  } else {
#pragma unroll
    for (std::int32_t i = 0; i < kLogitsPerLane; ++i) {
      const std::int32_t column = column_of<T>(chunk, i);
      if (column < columns) x[i] += __ldg(bias + column);
    }
  }
}

/// The largest logit of the lane.
__device__ inline float max_of(const float (&x)[kLogitsPerLane]) {
  float max = kLowest;
#pragma unroll
  for (std::int32_t i = 0; i < kLogitsPerLane; ++i) max = fmaxf(max, x[i]);
  return max;
}

/// The normalizer of the chunk, for all lanes, from the largest logit of each lane.
__device__ inline SoftmaxNormalizer normalizer_of_chunk(const float (&x)[kLogitsPerLane],
                                                        float lane_max) {
  const float max = reduce_lanes<kWarpSize>(lane_max, Max());
  const float shift = shift_of(max);
  float sums[4] = {};
#pragma unroll
  for (std::int32_t i = 0; i < kLogitsPerLane; ++i) sums[i % 4] += exp_relative(x[i], shift);
  return {max, reduce_lanes<kWarpSize>((sums[0] + sums[1]) + (sums[2] + sums[3]), Sum())};
}

}  // namespace fuselage::cuda
