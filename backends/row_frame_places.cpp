// RowFrame: sentences that come and go.

#include "backends/placed_rows.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"

namespace fuselage {

bool RowFrame::can_open(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::shortlist) return false;
  return true;
}

void RowFrame::open(const PlaceLimits& limits) {
  check(limits.sentences > 0 && limits.hypotheses > 0, "a store has places");
  places_ = std::make_unique<PlacedRows>(limits, graph_.domain_count());
  const std::int64_t hypotheses = std::int64_t{limits.sentences} * limits.hypotheses;
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    RowTable::DomainRows& rows = table_.domain(DomainId{i});
    if (domain.kind == DomainKind::sentence) rows.rows = max_rows_[i] = limits.sentences;
    if (domain.kind == DomainKind::source) rows.rows = max_rows_[i] = limits.source_rows;
    if (domain.binding != BindingTime::step) continue;
    max_rows_[i] = hypotheses;
    if (domain.kind == DomainKind::prefix) max_rows_[i] = hypotheses + limits.words;
    if (domain.kind == DomainKind::pairs)
      max_rows_[i] = graph_.domain(domain.right).kind == DomainKind::prefix
                         ? limits.words
                         : limits.hypotheses * limits.source_rows;
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (graph_.domain(map.from).binding != BindingTime::source) continue;
    table_.map(MapId{i}).segments.clear();
    table_.map(MapId{i}).index.assign(static_cast<std::size_t>(max_rows_[map.from.index]), -1);
  }
  forget_prefixes();
  reserve_step_rows();
  for (auto* rows : {&prefix_previous_, &prefix_position_})
    rows->assign(static_cast<std::size_t>(hypotheses + limits.words), -1);
}

void RowFrame::admit(const RowFrame& batch, std::span<const std::int32_t> places) {
  check(is_open(), "no store is open");
  place_rows(batch, places);
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const DomainKind from = graph_.domain(graph_.map(MapId{i}).from).kind;
    if (from == DomainKind::sentence || from == DomainKind::source)
      place_map(MapId{i}, batch.table().index(MapId{i}));
  }
}

/// Sets placed_.
void RowFrame::place_rows(const RowFrame& batch, std::span<const std::int32_t> places) {
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const DomainKind kind = graph_.domain(DomainId{i}).kind;
    if (kind == DomainKind::sentence) placed_[i].assign(places.begin(), places.end());
    if (kind != DomainKind::source) continue;
    const auto begin = batch.batch_.begin(DomainId{i});
    placed_[i].clear();
    for (std::size_t s = 0; s < places.size(); ++s) {
      places_->take_source(i, places[s], begin[s + 1] - begin[s]);
      const auto rows = places_->source_rows(i, places[s]);
      placed_[i].insert(placed_[i].end(), rows.begin(), rows.end());
    }
  }
}

void RowFrame::place_map(MapId id, std::span<const std::int32_t> index) {
  const RowMap& map = graph_.map(id);
  const auto& from = placed_[map.from.index];
  const auto& to = placed_[map.to.index];
  const DomainKind kind = graph_.domain(map.to).kind;
  const bool moves = kind == DomainKind::sentence || kind == DomainKind::source;
  for (std::size_t row = 0; row < from.size(); ++row) {
    const std::int32_t target = index[row];
    table_.map(id).index[static_cast<std::size_t>(from[row])] =
        moves && target >= 0 ? to[static_cast<std::size_t>(target)] : target;
  }
}

void RowFrame::release(std::int32_t place) { places_->release(place); }

}  // namespace fuselage
