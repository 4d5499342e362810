#include "fuselage/backends/row_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/placed_rows.h"
#include "fuselage/base/error.h"

namespace fuselage {

bool has_source(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::source) return true;
  return false;
}

RowFrame::RowFrame(const Graph& graph)
    : graph_(graph.declarations()),
      table_(graph),
      batch_(graph),
      longest_first_(graph.domain_count()),
      distances_(graph.map_count()),
      max_rows_(graph.domain_count(), 0),
      placed_(graph.domain_count()) {
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) max_rows_[i] = table_.rows(DomainId{i});
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i)
    if (const RowMap& map = graph_.map(MapId{i}); map.kind == MapKind::distance)
      distances_[i] = distance_table(map.buckets, graph_.domain(map.to).size);
}

RowFrame::RowFrame(RowFrame&&) noexcept = default;
RowFrame::~RowFrame() = default;

void RowFrame::sort_by_length(DomainId source) {
  const auto begin = batch_.begin(source);
  std::vector<std::int32_t>& sorted = longest_first_[source.index];
  sorted.resize(begin.size() - 1);
  std::iota(sorted.begin(), sorted.end(), 0);
  const auto length = [&](std::int32_t sentence) {
    const auto s = static_cast<std::size_t>(sentence);
    return begin[s + 1] - begin[s];
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::int32_t a, std::int32_t b) { return length(a) > length(b); });
}

void RowFrame::begin_batch(const Batch& batch) {
  places_.reset();
  batch_.set(graph_, batch);
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const DomainId id{i};
    const Domain& domain = graph_.domain(id);
    if (domain.binding != BindingTime::source) continue;
    if (domain.kind == DomainKind::sentence || domain.kind == DomainKind::scan)
      table_.domain(id).rows = batch_.sentences();
    if (domain.kind == DomainKind::source || domain.kind == DomainKind::shortlist) fill_tokens(id);
    if (domain.kind == DomainKind::source) sort_by_length(id);
    if (domain.kind == DomainKind::pairs) fill_pairs(id);
    max_rows_[i] = table_.rows(id);
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i)
    if (graph_.domain(graph_.map(MapId{i}).from).binding == BindingTime::source)
      fill_source_map(MapId{i});
  for (std::size_t i = 0; i < graph_.inputs().size(); ++i) table_.set_input(i, batch_.numbers(i));
  forget_prefixes();
}

void RowFrame::fill_source_map(MapId id) {
  switch (graph_.map(id).kind) {
    case MapKind::word: {
      const auto words = batch_.words(id);
      table_.map(id).index.assign(words.begin(), words.end());
      break;
    }
    case MapKind::neighbour:
      fill_neighbours(id);
      break;
    case MapKind::token:
      fill_tokens_at(id);
      break;
    case MapKind::position:
      fill_positions(id);
      break;
    case MapKind::distance:
      fill_distances(id);
      break;
    default:
      break;  // filled with its domain
  }
}

void RowFrame::forget_prefixes() {
  prefix_previous_.clear();
  prefix_position_.clear();
  newest_.clear();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (graph_.domain(DomainId{i}).kind == DomainKind::prefix) {
      table_.domain(DomainId{i}).rows = 0;
      table_.domain(DomainId{i}).first_new = 0;
    }
}

void RowFrame::fill_tokens(DomainId id) {
  const auto begin = batch_.begin(id);
  RowTable::DomainRows& rows = table_.domain(id);
  RowTable::MapRows& map = table_.map(graph_.map_of(id, MapKind::structural));
  rows.rows = begin.back();
  rows.positions.clear();
  map.index.clear();
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::int32_t at = begin[s]; at < begin[s + 1]; ++at) {
      rows.positions.push_back(at - begin[s]);
      map.index.push_back(static_cast<std::int32_t>(s));
    }
  map.segments.assign(begin.begin(), begin.end());
  rows.lists.clear();
  if (graph_.domain(id).kind == DomainKind::shortlist)
    for (std::size_t s = 0; s + 1 < begin.size(); ++s)
      rows.lists.push_back({begin[s], begin[s + 1] - begin[s]});
}

void RowFrame::fill_positions(MapId id) {
  const RowMap& map = graph_.map(id);
  const std::int64_t last = graph_.domain(map.to).size - 1;
  auto& index = table_.map(id).index;
  index.clear();
  for (const std::int32_t position : table_.positions(map.from))
    index.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(position + map.offset, 0, last)));
}

void RowFrame::fill_neighbours(MapId id) {
  const RowMap& map = graph_.map(id);
  auto& index = table_.map(id).index;
  index.clear();
  if (graph_.domain(map.to).kind == DomainKind::prefix) {
    for (std::int32_t at : newest_) {
      for (std::int64_t steps = map.offset; steps < 0 && at >= 0; ++steps)
        at = prefix_previous_[static_cast<std::size_t>(at)];
      index.push_back(at);
    }
    return;
  }
  const auto begin = batch_.begin(map.to);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::int64_t at = begin[s] + map.offset; at < begin[s + 1] + map.offset; ++at)
      index.push_back(at >= begin[s] && at < begin[s + 1] ? static_cast<std::int32_t>(at) : -1);
}

void RowFrame::fill_tokens_at(MapId id) {
  const RowMap& map = graph_.map(id);
  const auto begin = batch_.begin(map.to);
  auto& index = table_.map(id).index;
  index.clear();
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const std::int64_t at = (map.offset < 0 ? begin[s + 1] : begin[s]) + map.offset;
    index.push_back(at >= begin[s] && at < begin[s + 1] ? static_cast<std::int32_t>(at) : -1);
  }
}

/// Right rows of a prefix are in order, so their distances count up to that of the last pair.
void RowFrame::fill_distances(MapId id) {
  const RowMap& map = graph_.map(id);
  const Domain& pairs = graph_.domain(map.from);
  const MapId to_left = graph_.map_of(map.from, MapKind::left);
  const auto segments = table_.segments(to_left);
  auto& index = table_.map(id).index;
  index.clear();
  if (graph_.domain(pairs.right).kind == DomainKind::prefix) {
    for (std::size_t l = 0; l + 1 < segments.size(); ++l)
      for (std::int64_t p = segments[l]; p < segments[l + 1]; ++p)
        index.push_back(distances_[id.index][p + 1 - segments[l + 1]]);
    return;
  }
  const auto left = table_.index(to_left);
  const auto right = table_.index(graph_.map_of(map.from, MapKind::right));
  for (std::size_t p = 0; p < right.size(); ++p)
    index.push_back(distances_[id.index][std::int64_t{right[p]} - left[p]]);
}

void RowFrame::fill_words(MapId id, std::span<const std::int32_t> words) {
  const RowMap& map = graph_.map(id);
  const std::int64_t size = graph_.domain(map.to).size;
  for (const std::int32_t word : words)
    if (word >= size || (word < 0 && !map.partial))
      throw Error(fmt::format("word id {} is not in the model's vocabulary '{}' of {} entries",
                              word, graph_.domain(map.to).name, size));
  table_.map(id).index.assign(words.begin(), words.end());
}

std::int32_t RowFrame::sentence_of(DomainId id, std::int64_t row) const {
  while (graph_.domain(id).kind != DomainKind::sentence) {
    row = table_.index(graph_.map_of(id, MapKind::structural))[static_cast<std::size_t>(row)];
    id = graph_.domain(id).of;
  }
  return static_cast<std::int32_t>(row);
}

void RowFrame::fill_pairs(DomainId id) {
  const Domain& domain = graph_.domain(id);
  const DomainKind right_kind = graph_.domain(domain.right).kind;
  check(right_kind == DomainKind::source || right_kind == DomainKind::shortlist ||
            right_kind == DomainKind::prefix,
        "pairs have source, shortlist or prefix rows on their right");
  RowTable::MapRows& left = table_.map(graph_.map_of(id, MapKind::left));
  RowTable::MapRows& right = table_.map(graph_.map_of(id, MapKind::right));
  left.index.clear();
  right.index.clear();
  left.segments.assign(1, 0);
  for (std::int64_t row = 0; row < table_.rows(domain.left); ++row) {
    if (right_kind == DomainKind::prefix)
      add_prefix_pairs(domain, row, right.index);
    else
      add_token_pairs(domain, row, right.index);
    left.index.resize(right.index.size(), static_cast<std::int32_t>(row));
    left.segments.push_back(static_cast<std::int32_t>(right.index.size()));
  }
  table_.domain(id).rows = static_cast<std::int64_t>(right.index.size());
}

void RowFrame::add_token_pairs(const Domain& pairs, std::int64_t left,
                               std::vector<std::int32_t>& right) {
  const auto sentence = static_cast<std::size_t>(sentence_of(pairs.left, left));
  if (places_) {
    const auto rows = places_->rows(pairs.right.index, static_cast<std::int32_t>(sentence));
    right.insert(right.end(), rows.begin(), rows.end());
    return;
  }
  const auto begin = batch_.begin(pairs.right);
  std::int64_t first = begin[sentence];
  std::int64_t last = begin[sentence + 1] - 1;
  // Members of pairs with a window are tokens of one source.
  if (!pairs.window.has_all()) {
    if (pairs.window.first > -Window::kUnbounded)
      first = std::max(first, left + pairs.window.first);
    if (pairs.window.last < Window::kUnbounded) last = std::min(last, left + pairs.window.last);
  }
  for (std::int64_t at = first; at <= last; ++at) right.push_back(static_cast<std::int32_t>(at));
}

/// A hypothesis is a list of ancestors, newest last.
void RowFrame::add_prefix_pairs(const Domain& pairs, std::int64_t left,
                                std::vector<std::int32_t>& right) {
  std::int32_t at = newest_[static_cast<std::size_t>(left)];
  std::int64_t count = prefix_position_[static_cast<std::size_t>(at)] + 1;
  if (pairs.window.first > -Window::kUnbounded) count = std::min(count, 1 - pairs.window.first);
  right.resize(right.size() + static_cast<std::size_t>(count));
  for (auto to = right.rbegin(); count > 0; --count) {
    *to++ = at;
    at = prefix_previous_[static_cast<std::size_t>(at)];
  }
}

std::int64_t RowFrame::max_pairs(const Domain& pairs, const StepLimits& limits) const {
  const bool is_prefix = graph_.domain(pairs.right).kind == DomainKind::prefix;
  std::int64_t rows = 0;
  for (std::size_t s = 0; s < limits.hypotheses.size(); ++s) {
    std::int64_t right = 0;
    if (is_prefix) {
      right = limits.steps[s];
      if (pairs.window.first > -Window::kUnbounded) right = std::min(right, 1 - pairs.window.first);
    } else if (const auto begin = batch_.begin(pairs.right); s + 1 < begin.size()) {
      right = begin[s + 1] - begin[s];
    }
    rows += limits.hypotheses[s] * right;
  }
  return rows;
}

void RowFrame::limit_steps(const StepLimits& limits) {
  std::int64_t hypotheses = 0;
  std::int64_t prefix = 0;
  for (std::size_t s = 0; s < limits.hypotheses.size(); ++s) {
    hypotheses += limits.hypotheses[s];
    prefix += std::int64_t{limits.hypotheses[s]} * limits.steps[s];
  }
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (domain.binding != BindingTime::step) continue;
    max_rows_[i] = hypotheses;
    if (domain.kind == DomainKind::prefix) max_rows_[i] = prefix;
    if (domain.kind == DomainKind::pairs) max_rows_[i] = max_pairs(domain, limits);
  }
}

void RowFrame::reserve_steps(const StepLimits& limits) {
  limit_steps(limits);
  reserve_step_rows();
}

void RowFrame::reserve_step_rows() {
  const auto reserve = [](std::vector<std::int32_t>& rows, std::int64_t count) {
    rows.reserve(static_cast<std::size_t>(count));
  };
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    if (graph_.domain(DomainId{i}).binding != BindingTime::step) continue;
    reserve(table_.domain(DomainId{i}).positions, max_rows_[i]);
    reserve(table_.domain(DomainId{i}).previous, max_rows_[i]);
    if (graph_.domain(DomainId{i}).kind != DomainKind::prefix) continue;
    reserve(prefix_previous_, max_rows_[i]);
    reserve(prefix_position_, max_rows_[i]);
    for (auto* rows : {&newest_, &last_newest_})
      reserve(*rows, max_rows_[graph_.domain(DomainId{i}).of.index]);
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (graph_.domain(map.from).binding != BindingTime::step) continue;
    reserve(table_.map(MapId{i}).index, max_rows_[map.from.index]);
    if (map.kind == MapKind::left)
      reserve(table_.map(MapId{i}).segments, max_rows_[map.to.index] + 1);
  }
}

void RowFrame::begin_step(const StepInput& input) {
  const auto assign = [](std::vector<std::int32_t>& to, std::span<const std::int32_t> from) {
    to.assign(from.begin(), from.end());
  };
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const DomainId id{i};
    const Domain& domain = graph_.domain(id);
    RowTable::DomainRows& rows = table_.domain(id);
    if (domain.kind == DomainKind::parent) {
      rows.rows = static_cast<std::int64_t>(input.parents.size());
      assign(rows.previous, input.parents);
      assign(table_.map(graph_.map_of(id, MapKind::structural)).index, input.parent_sentence);
    } else if (domain.kind == DomainKind::hypothesis) {
      rows.rows = static_cast<std::int64_t>(input.hypothesis_parent.size());
      assign(rows.positions, input.positions);
      assign(table_.map(graph_.map_of(id, MapKind::structural)).index, input.hypothesis_parent);
    }
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (graph_.domain(map.from).kind != DomainKind::hypothesis) continue;
    if (map.kind == MapKind::word) fill_words(MapId{i}, input.words);
    if (map.kind == MapKind::position) fill_positions(MapId{i});
  }
  extend_prefixes();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (domain.kind == DomainKind::pairs && domain.binding == BindingTime::step)
      fill_pairs(DomainId{i});
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (graph_.domain(map.from).binding != BindingTime::step) continue;
    if (map.kind == MapKind::neighbour) fill_neighbours(MapId{i});
    if (map.kind == MapKind::distance) fill_distances(MapId{i});
  }
}

/// All prefix domains have the same rows.
void RowFrame::extend_prefixes() {
  bool has_words = false;
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (domain.kind != DomainKind::prefix) continue;
    RowTable::DomainRows& rows = table_.domain(DomainId{i});
    rows.first_new = places_ ? 0 : rows.rows;
    rows.rows = rows.first_new + table_.rows(domain.of);
    if (!has_words) add_words(DomainId{i});
    has_words = true;
    table_.map(graph_.map_of(domain.of, MapKind::newest))
        .index.assign(newest_.begin(), newest_.end());
  }
}

void RowFrame::add_words(DomainId prefix) {
  const DomainId hypotheses = graph_.domain(prefix).of;
  const auto previous = table_.previous(graph_.domain(hypotheses).of);
  const auto parent = table_.index(graph_.map_of(hypotheses, MapKind::structural));
  const auto positions = table_.positions(hypotheses);
  std::swap(newest_, last_newest_);
  newest_.clear();
  if (!places_) {
    prefix_previous_.resize(static_cast<std::size_t>(table_.rows(prefix)));
    prefix_position_.resize(prefix_previous_.size());
  }
  for (std::size_t h = 0; h < parent.size(); ++h) {
    const std::int32_t before = previous[static_cast<std::size_t>(parent[h])];
    const auto row =
        static_cast<std::int32_t>(table_.first_new(prefix)) + static_cast<std::int32_t>(h);
    newest_.push_back(
        places_ ? places_->take_word(sentence_of(hypotheses, static_cast<std::int64_t>(h))) : row);
    const auto newest = static_cast<std::size_t>(newest_.back());
    prefix_previous_[newest] = before < 0 ? -1 : last_newest_[static_cast<std::size_t>(before)];
    prefix_position_[newest] = positions[h];
  }
}

std::int64_t RowFrame::iterations(DomainId scan) const {
  const DomainId source = graph_.domain(scan).of;
  const auto& sorted = longest_first_[source.index];
  if (sorted.empty()) return 0;
  const auto longest = static_cast<std::size_t>(sorted.front());
  const auto begin = batch_.begin(source);
  return begin[longest + 1] - begin[longest];
}

void RowFrame::begin_iteration(DomainId scan, std::int64_t t) {
  const Domain& domain = graph_.domain(scan);
  RowTable::DomainRows& rows = table_.domain(scan);
  auto& index = table_.map(graph_.map_of(scan, MapKind::structural)).index;
  index.clear();
  rows.previous.clear();
  const auto tokens = batch_.begin(domain.of);
  for (const std::int32_t sentence : longest_first_[domain.of.index]) {
    const std::int32_t begin = tokens[static_cast<std::size_t>(sentence)];
    const std::int32_t end = tokens[static_cast<std::size_t>(sentence) + 1];
    if (t >= end - begin) break;
    rows.previous.push_back(t == 0 ? -1 : static_cast<std::int32_t>(index.size()));
    index.push_back(static_cast<std::int32_t>(domain.reversed ? end - 1 - t : begin + t));
  }
  rows.rows = static_cast<std::int64_t>(index.size());
}

}  // namespace fuselage
