#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/domain.h"

namespace FUSELAGE_API fuselage {

/// The entry of each distance of a pair, as a table: beyond `limit` entries do not change.
struct DistanceTable {
  std::int64_t limit = 0;
  std::vector<std::int32_t> entries;  ///< of the distances -limit … limit

  std::int32_t operator[](std::int64_t distance) const {
    const std::int64_t at = distance < -limit ? -limit : distance > limit ? limit : distance;
    return entries[static_cast<std::size_t>(at + limit)];
  }
};

/// The entries, of `size`, that `buckets` gives to distances. Logarithms are computed in float, as
/// in the published models.
DistanceTable distance_table(const DistanceBuckets& buckets, std::int64_t size);

}  // namespace fuselage
