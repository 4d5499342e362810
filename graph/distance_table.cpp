#include "fuselage/graph/distance_table.h"

#include <algorithm>
#include <cmath>

namespace fuselage {
namespace {

/// The bucket, of `count`, of a distance of `steps` in one direction.
std::int64_t logarithmic_bucket(std::int64_t steps, std::int64_t count, std::int64_t max_distance) {
  const std::int64_t exact = count / 2;
  if (steps < exact) return steps;
  const auto smallest = static_cast<float>(exact);
  const float share =
      std::log(static_cast<float>(steps) / smallest) /
      static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
  const auto bucket = exact + static_cast<std::int64_t>(share * static_cast<float>(count - exact));
  return std::min(bucket, count - 1);
}

std::int64_t clipped_entry(const DistanceBuckets& buckets, std::int64_t size,
                           std::int64_t distance) {
  if (buckets.causal) return std::clamp<std::int64_t>(-distance, 0, size - 1);
  const std::int64_t farthest = (size - 1) / 2;
  return std::clamp(distance, -farthest, farthest) + farthest;
}

std::int64_t logarithmic_entry(const DistanceBuckets& buckets, std::int64_t size,
                               std::int64_t distance) {
  if (buckets.causal)
    return logarithmic_bucket(std::max<std::int64_t>(-distance, 0), size, buckets.max_distance);
  const std::int64_t half = size / 2;
  return (distance > 0 ? half : 0) +
         logarithmic_bucket(std::abs(distance), half, buckets.max_distance);
}

}  // namespace

DistanceTable distance_table(const DistanceBuckets& buckets, std::int64_t size) {
  const bool is_clipped = buckets.kind == DistanceBuckets::Kind::clipped;
  DistanceTable table{.limit = is_clipped ? size : buckets.max_distance, .entries = {}};
  for (std::int64_t distance = -table.limit; distance <= table.limit; ++distance)
    table.entries.push_back(
        static_cast<std::int32_t>(is_clipped ? clipped_entry(buckets, size, distance)
                                             : logarithmic_entry(buckets, size, distance)));
  return table;
}

}  // namespace fuselage
