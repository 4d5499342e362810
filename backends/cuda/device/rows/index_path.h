#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// Where `count` maps, from the first to the last, lead from row r; -1 where one leads nowhere.
__device__ inline std::int32_t follow(const std::int32_t* const* maps, std::int32_t count,
                                      std::int64_t r) {
  std::int32_t row = maps[0][r];
  for (std::int32_t i = 1; i < count && row >= 0; ++i) row = maps[i][row];
  return row;
}

/// Longer than any path: maps lead from pairs to their members and on to what these belong to.
inline constexpr std::size_t kMaxMaps = 8;

/// A path of maps that a kernel follows by itself: beside the one index through which an operand
/// is read.
struct IndexPath {
  const std::int32_t* maps[kMaxMaps] = {};
  std::int32_t count = 0;
};

__device__ inline std::int32_t follow(const IndexPath& path, std::int64_t r) {
  return follow(path.maps, path.count, r);
}

/// out[r] is the element of number element(r) of row row(r) of x; 0 where a path leads nowhere.
void select_elements(cudaStream_t stream, const RowsIn& x, const IndexPath& row,
                     const IndexPath& element, const Rows& rows, const RowsOut& out);

/// ids[i] has `columns` numbers of pairs, counted from the first pair of left row i on. Each
/// becomes what `path` leads to from that pair; what is negative stays.
void follow_from_pairs(cudaStream_t stream, const IndexPath& path, const Segments& segments,
                       const Rows& left, std::int64_t columns, const ResultOf<std::int32_t>& ids);

}  // namespace fuselage::cuda
