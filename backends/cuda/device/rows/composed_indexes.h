#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// A path of maps whose index is composed on the device. All pointers are in device memory.
struct ComposedIndex {
  const std::int32_t* const* maps = nullptr;  ///< their indexes, from first to last
  std::int32_t map_count = 0;
  const std::int32_t* rows = nullptr;  ///< where their number stands
  std::int32_t* out = nullptr;
};

/// Follows each path for all of its rows; -1 stays -1. `paths`, `count` of them, are in device
/// memory; none has more than `most_rows` rows.
void compose_indexes(cudaStream_t stream, const ComposedIndex* paths, std::int32_t count,
                     std::int32_t most_rows);

}  // namespace fuselage::cuda
