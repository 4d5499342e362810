#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// The row to which `count` maps, from first to last, lead from row r; -1 if a map has no row.
__device__ inline std::int32_t follow(const std::int32_t* const* maps, std::int32_t count,
                                      std::int64_t r) {
  std::int32_t row = maps[0][r];
  for (std::int32_t i = 1; i < count && row >= 0; ++i) row = maps[i][row];
  return row;
}

/// A bound on the length of paths: from pairs to their members, to their parents and so on.
inline constexpr std::size_t kMaxMaps = 8;

/// A path of maps, as a kernel parameter.
struct IndexPath {
  const std::int32_t* maps[kMaxMaps] = {};
  std::int32_t count = 0;
};

__device__ inline std::int32_t follow(const IndexPath& path, std::int64_t r) {
  return follow(path.maps, path.count, r);
}

/// A path of maps with an index that is composed on the device. All pointers are device memory.
struct ComposedIndex {
  const std::int32_t* const* maps = nullptr;  ///< indexes of the maps, from first to last
  std::int32_t map_count = 0;
  const std::int32_t* rows = nullptr;  ///< number of rows
  std::int32_t* out = nullptr;
};

/// Composes the index of each path, for all of its rows; -1 stays -1. `paths`, in device memory,
/// has `count` elements with at most `max_rows` rows each.
void compose_indexes(cudaStream_t stream, const ComposedIndex* paths, std::int32_t count,
                     std::int32_t max_rows);

/// out[r] = x[row(r)][element(r)]; 0 if a path has no row.
void select_elements(cudaStream_t stream, const RowsIn& x, const IndexPath& row,
                     const IndexPath& element, const Rows& rows, const RowsOut& out);

/// Replaces each of the `columns` numbers in ids[i], the number of a pair within left row i, by the
/// row to which `path` leads from the pair. Negative numbers stay.
void follow_from_pairs(cudaStream_t stream, const IndexPath& path, const Segments& segments,
                       const Rows& left, std::int64_t columns, const ResultOf<std::int32_t>& ids);

}  // namespace fuselage::cuda
