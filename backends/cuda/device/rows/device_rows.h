#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace fuselage::cuda {

/// Row counts, where they stand in device memory.
struct DeviceCounts {
  std::int32_t rows = 0;   ///< of the domain
  std::int32_t first = 0;  ///< first row that is new in this step: 0 except for prefix domains
  std::int32_t live = 0;   ///< rows - first: those that a kernel of the domain computes
};

/// A RowTable in device memory: where kernels find row counts and the indexes of maps. Copies of
/// the same pointers may go with smaller bounds.
class DeviceRows {
 public:
  struct DomainRows {
    DeviceCounts* counts = nullptr;
    std::int32_t* positions = nullptr;
    std::int32_t* previous = nullptr;
    std::int32_t most_live = 0;  ///< bound on counts->live
    std::int32_t most_rows = 0;  ///< bound on counts->rows
  };
  struct MapRows {
    std::int32_t* index = nullptr;
    std::int32_t* segments = nullptr;
  };

  const DomainRows& operator[](DomainId id) const { return domains[id.index]; }
  const MapRows& operator[](MapId id) const { return maps[id.index]; }

  std::vector<DomainRows> domains;
  std::vector<MapRows> maps;
  /// On the host: the first row of each iteration among those of all iterations of a scan in this
  /// batch, and one past the last. An iteration's rows are the longest sentences, longest first.
  std::span<const std::int32_t> iteration_begin;
};

}  // namespace fuselage::cuda
