#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// A map of a batch whose rows get rows of a store. All pointers are device memory.
struct PlacedMap {
  const std::int32_t* index = nullptr;  ///< of the batch
  const std::int32_t* from = nullptr;   ///< row of the store for each row that the map leads from
  /// The same for the rows that it leads to; null: these are not of the store.
  const std::int32_t* to = nullptr;
  std::int32_t* out = nullptr;  ///< the map of the store
};

/// Copies the map of `rows` rows of a batch to the map of a store.
void place_map(cudaStream_t stream, const PlacedMap& map, const Rows& rows);

}  // namespace fuselage::cuda
