// RowFrame: sentences that come and go.

#include "backends/placed_rows.h"
#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"

namespace fuselage {

namespace {

bool has_places(const Domain& domain) {
  return domain.kind == DomainKind::sentence || domain.kind == DomainKind::source ||
         domain.kind == DomainKind::shortlist;
}

/// Most words of a list: all of the vocabulary.
std::int64_t longest_list(const Graph& graph, DomainId shortlist) {
  std::int64_t words = 1;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i}); map.from == shortlist && map.kind == MapKind::word)
      words = graph.domain(map.to).size;
  return words;
}

}  // namespace

void RowFrame::open(const PlaceLimits& limits) {
  check(limits.sentences > 0 && limits.hypotheses > 0, "a store has places");
  std::vector<RowPages> pages(graph_.domain_count());
  const std::int64_t hypotheses = std::int64_t{limits.sentences} * limits.hypotheses;
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    RowTable::DomainRows& rows = table_.domain(DomainId{i});
    if (domain.kind == DomainKind::sentence) rows.rows = max_rows_[i] = limits.sentences;
    if (domain.kind == DomainKind::source) {
      rows.rows = max_rows_[i] = limits.source_rows;
      pages[i] = RowPages(0, limits.source_rows, PlaceLimits::kPageRows);
    }
    // The words of a list are adjacent: kernels read them in one sequence.
    if (domain.kind == DomainKind::shortlist) {
      const std::int64_t longest = longest_list(graph_, DomainId{i});
      rows.rows = max_rows_[i] = limits.sentences * longest;
      pages[i] = RowPages(0, rows.rows, longest);
      rows.lists.assign(static_cast<std::size_t>(limits.sentences), {});
    }
    if (domain.binding != BindingTime::step) continue;
    max_rows_[i] = hypotheses;
    if (domain.kind == DomainKind::prefix) max_rows_[i] = hypotheses + limits.words;
    if (domain.kind == DomainKind::pairs)
      max_rows_[i] = graph_.domain(domain.right).kind == DomainKind::prefix
                         ? limits.words
                         : limits.hypotheses * max_rows_[domain.right.index];
  }
  places_ = std::make_unique<PlacedRows>(limits, std::move(pages));
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
    if (has_places(graph_.domain(graph_.map(MapId{i}).from)))
      place_map(MapId{i}, batch.table().index(MapId{i}));
  }
}

/// Sets placed_.
void RowFrame::place_rows(const RowFrame& batch, std::span<const std::int32_t> places) {
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const DomainKind kind = graph_.domain(DomainId{i}).kind;
    if (kind == DomainKind::sentence) placed_[i].assign(places.begin(), places.end());
    if (kind != DomainKind::source && kind != DomainKind::shortlist) continue;
    const auto begin = batch.batch_.begin(DomainId{i});
    placed_[i].clear();
    for (std::size_t s = 0; s < places.size(); ++s) {
      places_->take_rows(i, places[s], begin[s + 1] - begin[s]);
      const auto rows = places_->rows(i, places[s]);
      placed_[i].insert(placed_[i].end(), rows.begin(), rows.end());
      if (kind == DomainKind::shortlist)
        table_.domain(DomainId{i}).lists[static_cast<std::size_t>(places[s])] = {
            rows.empty() ? 0 : rows.front(), static_cast<std::int32_t>(rows.size())};
    }
  }
}

void RowFrame::place_map(MapId id, std::span<const std::int32_t> index) {
  const RowMap& map = graph_.map(id);
  const auto& from = placed_[map.from.index];
  const auto& to = placed_[map.to.index];
  const bool moves = has_places(graph_.domain(map.to));
  for (std::size_t row = 0; row < from.size(); ++row) {
    const std::int32_t target = index[row];
    table_.map(id).index[static_cast<std::size_t>(from[row])] =
        moves && target >= 0 ? to[static_cast<std::size_t>(target)] : target;
  }
}

std::span<const std::int32_t> RowFrame::rows_of(DomainId domain, std::int32_t place) const {
  return places_->rows(domain.index, place);
}

void RowFrame::release(std::int32_t place) { places_->release(place); }

}  // namespace fuselage
