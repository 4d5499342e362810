#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// The rows that a graph's domains have at one moment: how many, where its maps lead, and the
/// position of each token in its sentence. Filled by an executor per batch and per step; graphs
/// that come from one another share ids of domains and maps, and so may share a table.
class RowTable {
 public:
  explicit RowTable(const Graph& graph);

  /// Number of rows of a domain.
  std::int64_t rows(DomainId domain) const { return domains_[domain.index].rows; }
  /// First row that is new in this step: 0 except for prefix domains, whose older rows stay.
  std::int64_t first_new(DomainId domain) const { return domains_[domain.index].first_new; }

  /// Where each row of the map's domain leads; -1: nowhere (partial maps).
  std::span<const std::int32_t> index(MapId map) const { return maps_[map.index].index; }
  /// For a map along which rows are grouped (pairs to left, source to sentence): first row of each
  /// target row, and one past the last.
  std::span<const std::int32_t> segments(MapId map) const { return maps_[map.index].segments; }
  /// Position of each row in its sentence, from 0.
  std::span<const std::int32_t> positions(DomainId domain) const {
    return domains_[domain.index].positions;
  }
  /// For a domain with states: the row of the last iteration's next value that each row continues;
  /// -1: a fresh start.
  std::span<const std::int32_t> previous(DomainId domain) const {
    return domains_[domain.index].previous;
  }

  /// Follows `path`, whose maps stand from first to last, for all rows; -1 stays -1. `out` keeps
  /// its capacity.
  void resolve(const MapPath& path, std::vector<std::int32_t>& out) const;

  struct DomainRows {
    std::int64_t rows = 0;
    std::int64_t first_new = 0;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> previous;
  };
  struct MapRows {
    std::vector<std::int32_t> index;
    std::vector<std::int32_t> segments;
  };
  DomainRows& domain(DomainId id) { return domains_[id.index]; }
  MapRows& map(MapId id) { return maps_[id.index]; }

 private:
  std::vector<DomainRows> domains_;
  std::vector<MapRows> maps_;
};

}  // namespace fuselage
