#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The current rows of a graph's domains: their numbers, the index of each map, and the position of
/// each token in its sentence. Filled by an executor per batch and per step. Graphs derived from
/// one another share ids of domains and maps, so they may share a table.
class RowTable {
 public:
  explicit RowTable(const Graph& graph);

  /// Number of rows of a domain.
  std::int64_t rows(DomainId domain) const { return domains_[domain.index].rows; }
  /// First row that is new in this step: 0 except for prefix domains, which keep older rows.
  std::int64_t first_new(DomainId domain) const { return domains_[domain.index].first_new; }

  /// The target row of each row of the map's domain; -1: unmapped (partial maps).
  std::span<const std::int32_t> index(MapId map) const { return maps_[map.index].index; }
  /// For a map whose rows are grouped by target row (pairs to left, source to sentence): the first
  /// row of each group, and one past the last row.
  std::span<const std::int32_t> segments(MapId map) const { return maps_[map.index].segments; }
  /// Position of each row in its sentence, from 0.
  std::span<const std::int32_t> positions(DomainId domain) const {
    return domains_[domain.index].positions;
  }
  /// For a domain with states: the row of the last iteration's next value that each row continues;
  /// -1: the row starts from the initial value.
  std::span<const std::int32_t> previous(DomainId domain) const {
    return domains_[domain.index].previous;
  }

  /// Adjacent rows.
  struct Range {
    std::int32_t first = 0, count = 0;
  };
  /// The rows of a sentence in a shortlist domain.
  Range list(DomainId shortlist, std::int32_t sentence) const {
    return domains_[shortlist.index].lists[static_cast<std::size_t>(sentence)];
  }

  /// The numbers of an input, by index: a row for each row of its domain.
  std::span<const float> input(std::size_t index) const { return inputs_[index]; }

  /// Composes the maps of `path`, first to last, into one index `out`; -1 stays -1. `out` keeps its
  /// capacity.
  void resolve(const MapPath& path, std::vector<std::int32_t>& out) const;

  struct DomainRows {
    std::int64_t rows = 0;
    std::int64_t first_new = 0;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> previous;
    std::vector<Range> lists;  ///< of a shortlist domain, by sentence
  };
  struct MapRows {
    std::vector<std::int32_t> index;
    std::vector<std::int32_t> segments;
  };
  DomainRows& domain(DomainId id) { return domains_[id.index]; }
  MapRows& map(MapId id) { return maps_[id.index]; }
  /// `numbers` have to stay valid while the table is read.
  void set_input(std::size_t index, std::span<const float> numbers) { inputs_[index] = numbers; }

 private:
  std::vector<DomainRows> domains_;
  std::vector<MapRows> maps_;
  std::vector<std::span<const float>> inputs_;
};

}  // namespace fuselage
