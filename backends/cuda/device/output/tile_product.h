#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/output/warp_best.h"
#include "backends/cuda/device/runtime/ptx.h"

namespace fuselage::cuda {

// Products of tiles on tensor cores. Vectors of 16-bit numbers are in shared memory slab by slab:
// of each vector kFusedSlab numbers, which are 4 pieces of 16 bytes. Pieces of neighbouring vectors
// are swapped so that the 8 that a matrix is loaded from are in different banks.

inline constexpr std::int32_t kPieces = kFusedSlab / 8;

/// BufferView of a piece in a slab, in pieces.
__device__ inline std::int32_t place_of(std::int32_t vector, std::int32_t piece) {
  return vector * kPieces + (piece ^ (vector / 2 % kPieces));
}

/// Vectors in device memory, `stride` numbers apart, of which `count` are there.
template <typename T>
struct Vectors {
  const T* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

/// Begins to copy slab `slab` of kVectors vectors from `first` on. All threads of a block take
/// part.
template <std::int32_t kVectors, std::int32_t kThreads, typename T>
__device__ void begin_slab(uint4* to, const Vectors<T>& from, std::int64_t first,
                           std::int32_t slab) {
  static_assert(kVectors * kPieces % kThreads == 0);
#pragma unroll
  for (std::int32_t i = 0; i < kVectors * kPieces / kThreads; ++i) {
    const std::int32_t number = i * kThreads + static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t vector = number / kPieces;
    const std::int32_t piece = number % kPieces;
    const std::int64_t at = std::int64_t{slab} * kFusedSlab + piece * 8;
    const bool is_there = first + vector < from.count && at < from.stride;
    const T* source = is_there ? from.data + (first + vector) * from.stride + at : from.data;
    begin_copy(to + place_of(vector, piece), source, is_there);
  }
}

/// Sums of a warp: 32 rows, and 8 columns for each of kTiles. Element [m][n][i] is in row
/// 16 m + lane / 4 + i / 2 * 8 and column 8 n + lane % 4 * 2 + i % 2.
template <std::int32_t kTiles>
using WarpSums = float[2][kTiles][4];

/// Adds the products of a slab of rows and one of columns, those of the warp from `first_row` and
/// `first_column` on.
template <typename T, std::int32_t kTiles>
__device__ void multiply_slab(const uint4* rows, std::int32_t first_row, const uint4* columns,
                              std::int32_t first_column, WarpSums<kTiles>& sums) {
  const std::int32_t lane = lane_of_thread();
  const std::int32_t within = lane % 8;
  const std::int32_t upper = lane / 8 % 2;  // of the matrices that a lane brings addresses for
  const std::int32_t right = lane / 16;
#pragma unroll
  for (std::int32_t piece = 0; piece < kPieces; piece += 2) {
    std::uint32_t a[2][4];
#pragma unroll
    for (std::int32_t m = 0; m < 2; ++m)
      load_matrices(rows + place_of(first_row + 16 * m + 8 * upper + within, piece + right), a[m]);
#pragma unroll
    for (std::int32_t n = 0; n < kTiles; n += 2) {
      std::uint32_t b[4];
      load_matrices(columns + place_of(first_column + 8 * (n + right) + within, piece + upper), b);
#pragma unroll
      for (std::int32_t m = 0; m < 2; ++m) {
        multiply_add<T>(a[m], b[0], b[1], sums[m][n]);
        multiply_add<T>(a[m], b[2], b[3], sums[m][n + 1]);
      }
    }
  }
}

}  // namespace fuselage::cuda
