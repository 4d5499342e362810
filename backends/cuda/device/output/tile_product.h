#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {

// Products of tiles on tensor cores. A slab in shared memory holds kFusedSlab 16-bit numbers of
// each vector, as kSlabChunks chunks of 16 bytes. Chunks are swizzled by XOR, so that the 8 chunks
// that load_matrices() reads for a matrix are in different banks.

inline constexpr std::int32_t kSlabChunks = kFusedSlab / 8;

/// The swizzled position of a vector's chunk in a slab, in chunks.
__device__ inline std::int32_t swizzled(std::int32_t vector, std::int32_t chunk) {
  return vector * kSlabChunks + (chunk ^ (vector / 2 % kSlabChunks));
}

/// `count` vectors in device memory, `stride` numbers apart.
template <typename T>
struct Vectors {
  const T* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

/// Begins the copy of slab `slab` of kVectors vectors, from `first` on. All threads of the block
/// must call it.
template <std::int32_t kVectors, std::int32_t kThreads, typename T>
__device__ void begin_slab(uint4* to, const Vectors<T>& from, std::int64_t first,
                           std::int32_t slab) {
  static_assert(kVectors * kSlabChunks % kThreads == 0);
#pragma unroll
  for (std::int32_t i = 0; i < kVectors * kSlabChunks / kThreads; ++i) {
    const std::int32_t number = i * kThreads + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t vector = number / kSlabChunks;
    const std::int32_t chunk = number % kSlabChunks;
    const std::int64_t offset = std::int64_t{slab} * kFusedSlab + chunk * 8;
    const bool is_there = first + vector < from.count && offset < from.stride;
    const T* source = is_there ? from.data + (first + vector) * from.stride + offset : from.data;
    begin_copy(to + swizzled(vector, chunk), source, is_there);
  }
}

/// A warp's accumulators of 32 rows by 8 kTiles columns. Element [m][n][i] is row
/// 16 m + lane / 4 + i / 2 * 8 and column 8 n + lane % 4 * 2 + i % 2.
template <std::int32_t kTiles>
using WarpSums = float[2][kTiles][4];

/// Adds the products of a slab of rows and a slab of columns to the warp's accumulators, from
/// `first_row` and `first_column` on.
template <typename T, std::int32_t kTiles>
__device__ void multiply_slab(const uint4* rows, std::int32_t first_row, const uint4* columns,
                              std::int32_t first_column, WarpSums<kTiles>& sums) {
  const std::int32_t lane = lane_id();
  const std::int32_t within = lane % 8;
  // The quadrant of the lane's address in load_matrices().
  const std::int32_t upper = lane / 8 % 2;
  const std::int32_t right = lane / 16;
#pragma unroll
  for (std::int32_t chunk = 0; chunk < kSlabChunks; chunk += 2) {
    std::uint32_t a[2][4];
#pragma unroll
    for (std::int32_t m = 0; m < 2; ++m)
      load_matrices(rows + swizzled(first_row + 16 * m + 8 * upper + within, chunk + right), a[m]);
#pragma unroll
    for (std::int32_t n = 0; n < kTiles; n += 2) {
      std::uint32_t b[4];
      load_matrices(columns + swizzled(first_column + 8 * (n + right) + within, chunk + upper), b);
#pragma unroll
      for (std::int32_t m = 0; m < 2; ++m) {
        multiply_add<T>(a[m], b[0], b[1], sums[m][n]);
        multiply_add<T>(a[m], b[2], b[3], sums[m][n + 1]);
      }
    }
  }
}

}  // namespace fuselage::cuda
