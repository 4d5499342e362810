#include "backends/cuda/device/rows/place_tables.h"

namespace fuselage::cuda {

PlaceLimits PlaceTables::with_pages(PlaceLimits limits) {
  limits.words += std::int64_t{limits.sentences} * (WordPages::kRows - 1);
  return limits;
}

PlaceTables::PlaceTables(const Graph& graph, const PlaceLimits& limits)
    : free_words_(std::int64_t{limits.sentences} * limits.hypotheses, limits.words,
                  WordPages::kRows),
      pages_(static_cast<std::size_t>(limits.sentences)) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::source)
      sources_.push_back({DomainId{i}, graph.map_of(DomainId{i}, MapKind::structural),
                          add(limits.sentences, limits.source_rows)});
  words_ = add(limits.sentences, limits.words / WordPages::kRows);
  arrays_.allocate();
}

PlaceTables::Lists PlaceTables::add(std::int32_t places, std::int64_t items) {
  return {arrays_.add(std::int64_t{places} + 1), arrays_.add(items)};
}

void PlaceTables::take_words(std::int32_t place, std::int64_t words) {
  std::vector<std::int32_t> rows;
  free_words_.take(words, rows);
  std::vector<std::int32_t>& pages = pages_[static_cast<std::size_t>(place)];
  for (std::size_t at = 0; at < rows.size(); at += WordPages::kRows) pages.push_back(rows[at]);
}

void PlaceTables::release(std::int32_t place) {
  std::vector<std::int32_t>& pages = pages_[static_cast<std::size_t>(place)];
  for (const std::int32_t& page : pages) free_words_.give({&page, 1});
  pages.clear();
}

template <typename ListOf>
void PlaceTables::fill(const Lists& lists, const ListOf& list_of) {
  begin_.assign(1, 0);
  items_.clear();
  for (std::size_t place = 0; place < pages_.size(); ++place) {
    const std::span<const std::int32_t> list = list_of(static_cast<std::int32_t>(place));
    items_.insert(items_.end(), list.begin(), list.end());
    begin_.push_back(static_cast<std::int32_t>(items_.size()));
  }
  arrays_.fill(lists.begin, begin_);
  arrays_.fill(lists.items, items_);
}

void PlaceTables::upload(const RowFrame& frame, const Stream& stream) {
  arrays_.begin();
  for (const Source& source : sources_)
    fill(source.rows, [&](std::int32_t place) { return frame.rows_of(source.domain, place); });
  fill(words_, [&](std::int32_t place) {
    return std::span<const std::int32_t>(pages_[static_cast<std::size_t>(place)]);
  });
  arrays_.copy(stream);
}

void PlaceTables::add_to(DeviceRows& rows) const {
  for (const Source& source : sources_) {
    DeviceRows::MapRows& map = rows.maps[source.map.index];
    map.segments = arrays_.device(source.rows.begin);
    map.members = arrays_.device(source.rows.items);
  }
}

WordPages PlaceTables::pages() const {
  return {.begin = arrays_.device(words_.begin), .pages = arrays_.device(words_.items)};
}

}  // namespace fuselage::cuda
