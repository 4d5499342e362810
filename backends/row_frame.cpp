#include "fuselage/backends/row_frame.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {

void expect_one_source(const Graph& graph) {
  std::vector<std::string> sources;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (const Domain& domain = graph.domain(DomainId{i}); domain.kind == DomainKind::source)
      sources.push_back(in_quotes(domain.name));
  if (sources.size() > 1)
    throw Error(fmt::format(
        "graph '{}' reads {} source texts, {}, but a batch has one text for each sentence; declare "
        "one source domain, whose words can be those of all texts one after the other",
        graph.name(), sources.size(), fmt::join(sources, ", ")));
}

bool has_source(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::source) return true;
  return false;
}

RowFrame::RowFrame(const Graph& graph)
    : graph_(graph.declarations()), table_(graph), max_rows_(graph.domain_count(), 0) {
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) max_rows_[i] = table_.rows(DomainId{i});
}

void RowFrame::SentenceWords::assign(std::span<const WordIds> sentences) {
  begin.assign(1, 0);
  words.clear();
  for (const WordIds& sentence : sentences) {
    words.insert(words.end(), sentence.begin(), sentence.end());
    begin.push_back(static_cast<std::int32_t>(words.size()));
  }
}

void RowFrame::sort_by_length(std::span<const WordIds> sentences) {
  longest_first_.resize(sentences.size());
  std::iota(longest_first_.begin(), longest_first_.end(), 0);
  std::stable_sort(longest_first_.begin(), longest_first_.end(),
                   [&](std::int32_t a, std::int32_t b) {
                     return sentences[static_cast<std::size_t>(a)].size() >
                            sentences[static_cast<std::size_t>(b)].size();
                   });
}

void RowFrame::begin_batch(std::span<const WordIds> sentences,
                           std::span<const WordIds> shortlists) {
  if (has_source(graph_))
    for (const WordIds& sentence : sentences)
      check(!sentence.empty(), "a sentence has no words, not even an end symbol");
  source_.assign(sentences);
  shortlist_.assign(shortlists);
  sort_by_length(sentences);
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const DomainId id{i};
    const Domain& domain = graph_.domain(id);
    if (domain.binding != BindingTime::source) continue;
    if (domain.kind == DomainKind::sentence || domain.kind == DomainKind::scan)
      table_.domain(id).rows = static_cast<std::int64_t>(sentences.size());
    if (domain.kind == DomainKind::source || domain.kind == DomainKind::shortlist)
      fill_tokens(id, tokens_of(domain.kind));
    if (domain.kind == DomainKind::pairs) fill_pairs(id);
    max_rows_[i] = table_.rows(id);
  }
  for (std::uint32_t i = 0; i < graph_.map_count(); ++i) {
    const RowMap& map = graph_.map(MapId{i});
    if (map.kind == MapKind::word && graph_.domain(map.from).binding == BindingTime::source)
      fill_words(MapId{i}, tokens_of(graph_.domain(map.from).kind).words);
  }
  forget_prefixes();
}

void RowFrame::forget_prefixes() {
  prefix_previous_.clear();
  prefix_position_.clear();
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (graph_.domain(DomainId{i}).kind == DomainKind::prefix) {
      table_.domain(DomainId{i}).rows = 0;
      table_.domain(DomainId{i}).first_new = 0;
    }
}

const RowFrame::SentenceWords& RowFrame::tokens_of(DomainKind kind) const {
  return kind == DomainKind::shortlist ? shortlist_ : source_;
}

void RowFrame::fill_tokens(DomainId id, const SentenceWords& tokens) {
  check(tokens.begin.size() == source_.begin.size(), "not every sentence has a shortlist");
  RowTable::DomainRows& rows = table_.domain(id);
  RowTable::MapRows& map = table_.map(graph_.map_of(id, MapKind::structural));
  rows.rows = tokens.begin.back();
  rows.positions.clear();
  map.index.clear();
  for (std::size_t s = 0; s + 1 < tokens.begin.size(); ++s)
    for (std::int32_t at = tokens.begin[s]; at < tokens.begin[s + 1]; ++at) {
      rows.positions.push_back(at - tokens.begin[s]);
      map.index.push_back(static_cast<std::int32_t>(s));
    }
  map.segments = tokens.begin;
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
    if (right_kind != DomainKind::prefix) {
      const auto sentence = static_cast<std::size_t>(sentence_of(domain.left, row));
      const auto& begin = tokens_of(right_kind).begin;
      for (std::int32_t at = begin[sentence]; at < begin[sentence + 1]; ++at)
        right.index.push_back(at);
    } else {
      // A hypothesis is a list of ancestors, newest last.
      auto at = static_cast<std::int32_t>(table_.first_new(domain.right) + row);
      const std::int32_t count = prefix_position_[static_cast<std::size_t>(at)] + 1;
      right.index.resize(right.index.size() + static_cast<std::size_t>(count));
      for (auto to = right.index.rbegin(); at >= 0;
           at = prefix_previous_[static_cast<std::size_t>(at)])
        *to++ = at;
    }
    left.index.resize(right.index.size(), static_cast<std::int32_t>(row));
    left.segments.push_back(static_cast<std::int32_t>(right.index.size()));
  }
  table_.domain(id).rows = static_cast<std::int64_t>(right.index.size());
}

void RowFrame::limit_steps(const StepLimits& limits) {
  std::int64_t hypotheses = 0;
  std::int64_t prefix = 0;
  std::int64_t hypothesis_source = 0;
  std::int64_t hypothesis_shortlist = 0;
  for (std::size_t s = 0; s < limits.hypotheses.size(); ++s) {
    hypotheses += limits.hypotheses[s];
    prefix += std::int64_t{limits.hypotheses[s]} * limits.steps[s];
    const auto pairs = [&](const SentenceWords& tokens) {
      if (s + 1 >= tokens.begin.size()) return std::int64_t{0};
      return std::int64_t{limits.hypotheses[s]} * (tokens.begin[s + 1] - tokens.begin[s]);
    };
    hypothesis_source += pairs(source_);
    hypothesis_shortlist += pairs(shortlist_);
  }
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (domain.binding != BindingTime::step) continue;
    std::int64_t rows = hypotheses;
    if (domain.kind == DomainKind::prefix) rows = prefix;
    if (domain.kind == DomainKind::pairs) {
      const DomainKind right = graph_.domain(domain.right).kind;
      if (right == DomainKind::source) rows = hypothesis_source;
      if (right == DomainKind::shortlist) rows = hypothesis_shortlist;
      if (right == DomainKind::prefix) rows = prefix;
    }
    max_rows_[i] = rows;
  }
}

void RowFrame::reserve_steps(const StepLimits& limits) {
  limit_steps(limits);
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
    if (map.kind == MapKind::word && graph_.domain(map.from).kind == DomainKind::hypothesis)
      fill_words(MapId{i}, input.words);
  }
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i)
    if (graph_.domain(DomainId{i}).kind == DomainKind::prefix) extend_prefix(DomainId{i});
  for (std::uint32_t i = 0; i < graph_.domain_count(); ++i) {
    const Domain& domain = graph_.domain(DomainId{i});
    if (domain.kind == DomainKind::pairs && domain.binding == BindingTime::step)
      fill_pairs(DomainId{i});
  }
}

void RowFrame::extend_prefix(DomainId id) {
  const DomainId hypotheses = graph_.domain(id).of;
  const DomainId parents = graph_.domain(hypotheses).of;
  const auto previous = table_.previous(parents);
  const auto parent = table_.index(graph_.map_of(hypotheses, MapKind::structural));
  const auto positions = table_.positions(hypotheses);
  RowTable::DomainRows& rows = table_.domain(id);
  auto& newest = table_.map(graph_.map_of(hypotheses, MapKind::newest)).index;
  const std::int64_t last_first_new = rows.first_new;
  rows.first_new = rows.rows;
  rows.rows += table_.rows(hypotheses);
  newest.clear();
  for (std::size_t h = 0; h < parent.size(); ++h) {
    const std::int32_t before = previous[static_cast<std::size_t>(parent[h])];
    newest.push_back(static_cast<std::int32_t>(rows.first_new + static_cast<std::int64_t>(h)));
    // All prefix domains share their rows: the first one has already extended the chain.
    if (std::ssize(prefix_previous_) > newest.back()) continue;
    prefix_previous_.push_back(before < 0 ? -1
                                          : static_cast<std::int32_t>(last_first_new + before));
    prefix_position_.push_back(positions[h]);
  }
}

std::int64_t RowFrame::iterations(DomainId) const {
  if (longest_first_.empty()) return 0;
  const auto longest = static_cast<std::size_t>(longest_first_.front());
  return source_.begin[longest + 1] - source_.begin[longest];
}

void RowFrame::begin_iteration(DomainId scan, std::int64_t t) {
  RowTable::DomainRows& rows = table_.domain(scan);
  auto& index = table_.map(graph_.map_of(scan, MapKind::structural)).index;
  index.clear();
  rows.previous.clear();
  for (const std::int32_t sentence : longest_first_) {
    const std::int32_t begin = source_.begin[static_cast<std::size_t>(sentence)];
    const std::int32_t end = source_.begin[static_cast<std::size_t>(sentence) + 1];
    if (t >= end - begin) break;
    rows.previous.push_back(t == 0 ? -1 : static_cast<std::int32_t>(index.size()));
    index.push_back(
        static_cast<std::int32_t>(graph_.domain(scan).reversed ? end - 1 - t : begin + t));
  }
  rows.rows = static_cast<std::int64_t>(index.size());
}

}  // namespace fuselage
