#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage::cuda {

/// Row counts of a domain, in device memory.
struct DeviceCounts {
  std::int32_t rows = 0;
  std::int32_t first = 0;  ///< first new row of this step: 0 except for prefix domains
  std::int32_t live = 0;   ///< rows - first: the rows that kernels compute
};

/// A RowTable in device memory: pointers to row counts and the indexes of maps. A copy may have
/// smaller bounds.
class DeviceRows {
 public:
  struct DomainRows {
    DeviceCounts* counts = nullptr;
    std::int32_t* positions = nullptr;
    std::int32_t* previous = nullptr;
    std::int32_t max_live = 0;  ///< bound on counts->live
    std::int32_t max_rows = 0;  ///< bound on counts->rows
    /// Scans, on the host: the first row of each iteration in this batch, and the number of rows.
    /// An iteration's rows are the longest sentences, longest first.
    std::span<const std::int32_t> iteration_begin;
  };
  struct MapRows {
    std::int32_t* index = nullptr;
    std::int32_t* segments = nullptr;
    const std::int32_t* members = nullptr;  ///< the rows of each segment; null: they are adjacent
  };

  const DomainRows& operator[](DomainId id) const { return domains[id.index]; }
  const MapRows& operator[](MapId id) const { return maps[id.index]; }

  std::vector<DomainRows> domains;
  std::vector<MapRows> maps;
  std::vector<const float*> inputs;  ///< by index
};

}  // namespace fuselage::cuda
