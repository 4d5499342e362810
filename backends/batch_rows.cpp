#include "fuselage/backends/batch_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

bool has_sentence_rows(DomainKind kind) {
  return kind == DomainKind::source || kind == DomainKind::shortlist;
}

/// Names that a BatchInput may have.
std::vector<std::string_view> declared_names(const Graph& graph) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i});
        map.kind == MapKind::word && graph.domain(map.from).binding == BindingTime::source)
      names.push_back(map.name);
  for (const Input& input : graph.inputs()) names.push_back(input.name);
  return names;
}

void expect_count(const BatchInput& input, std::string_view what, std::size_t got,
                  std::int64_t wanted) {
  if (static_cast<std::int64_t>(got) != wanted)
    throw Error(fmt::format("input '{}' has {} {}, but its lengths add up to {}", input.name, got,
                            what, wanted));
}

}  // namespace

BatchRows::BatchRows(const Graph& declarations)
    : begin_(declarations.domain_count()),
      lengths_from_(declarations.domain_count()),
      words_(declarations.map_count()),
      has_words_(declarations.map_count()),
      numbers_(declarations.inputs().size()),
      has_numbers_(declarations.inputs().size()) {}

void BatchRows::clear() {
  for (auto& begin : begin_) begin.clear();
  for (auto& words : words_) words.clear();
  std::fill(has_words_.begin(), has_words_.end(), false);
  std::fill(has_numbers_.begin(), has_numbers_.end(), false);
}

void BatchRows::set(const Graph& graph, const Batch& batch) {
  clear();
  sentences_ = batch.size();
  for (const BatchInput& input : batch.inputs) set_named(graph, input);
  set_unnamed(graph, batch);
  expect_all(graph);
}

void BatchRows::set_named(const Graph& graph, const BatchInput& input) {
  if (input.lengths.size() != sentences_)
    throw Error(fmt::format("input '{}' has {} sentences, but the batch has {}", input.name,
                            input.lengths.size(), sentences_));
  const std::int64_t rows =
      std::accumulate(input.lengths.begin(), input.lengths.end(), std::int64_t{0});
  if (const MapId map = graph.find_map(input.name); map.valid()) {
    const DomainId domain = graph.map(map).from;
    if (graph.map(map).kind != MapKind::word || graph.domain(domain).binding != BindingTime::source)
      throw Error(fmt::format("map '{}' takes no words of a batch", input.name));
    set_lengths(graph, domain, input);
    expect_count(input, "words", input.words.size(), rows);
    set_words(graph, map, input.words);
  } else if (const auto index = graph.find_input(input.name)) {
    const Type& type = graph.inputs()[*index].type;
    set_lengths(graph, type.domain, input);
    expect_count(input, fmt::format("numbers, {} a row", row_size(type)), input.numbers.size(),
                 rows * row_size(type));
    numbers_[*index] = input.numbers;
    has_numbers_[*index] = true;
  } else if (const DomainId domain = graph.find_domain(input.name);
             domain.valid() && has_sentence_rows(graph.domain(domain).kind)) {
    set_lengths(graph, domain, input);
  } else {
    throw Error(fmt::format("graph '{}' has no input {}{}", graph.name(), in_quotes(input.name),
                            did_you_mean(input.name, declared_names(graph))));
  }
}

void BatchRows::set_lengths(const Graph& graph, DomainId id, const BatchInput& input) {
  const Domain& domain = graph.domain(id);
  const std::vector<std::int32_t> before = std::move(begin_[id.index]);
  std::vector<std::int32_t> begin{0};
  for (std::size_t s = 0; s < sentences_; ++s) {
    const std::int32_t length = input.lengths[s];
    if (domain.kind == DomainKind::sentence && length != 1)
      throw Error(fmt::format("input '{}' has {} rows for sentence {}, but '{}' has one a sentence",
                              input.name, length, s + 1, domain.name));
    if (length <= 0)
      throw Error(fmt::format("input '{}' has {} rows for sentence {}; a sentence has one or more",
                              input.name, length, s + 1));
    if (!before.empty() && before[s + 1] - before[s] != length)
      throw Error(fmt::format(
          "sentence {} has {} rows in input '{}', but {} in '{}'; both are of '{}'", s + 1, length,
          input.name, before[s + 1] - before[s], lengths_from_[id.index], domain.name));
    begin.push_back(begin.back() + length);
  }
  if (before.empty()) lengths_from_[id.index] = input.name;
  begin_[id.index] = std::move(begin);
}

void BatchRows::set_lists(DomainId domain, std::span<const WordIds> lists) {
  std::vector<std::int32_t>& begin = begin_[domain.index];
  begin.assign(1, 0);
  joined_.clear();
  for (const WordIds& list : lists) {
    joined_.insert(joined_.end(), list.begin(), list.end());
    begin.push_back(static_cast<std::int32_t>(joined_.size()));
  }
}

/// Domains that no input names have the words of the batch's sentences or shortlists.
void BatchRows::set_unnamed(const Graph& graph, const Batch& batch) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const DomainId id{i};
    const DomainKind kind = graph.domain(id).kind;
    if (!has_sentence_rows(kind) || !begin_[i].empty()) continue;
    if (kind == DomainKind::shortlist) {
      check(batch.shortlists.size() == sentences_, "not every sentence has a shortlist");
      set_lists(id, batch.shortlists);
    } else {
      if (batch.sentences.size() != sentences_) continue;
      for (const WordIds& sentence : batch.sentences)
        check(!sentence.empty(), "a sentence has no words, not even an end symbol");
      set_lists(id, batch.sentences);
    }
    for (std::uint32_t m = 0; m < graph.map_count(); ++m)
      if (const RowMap& map = graph.map(MapId{m}); map.from == id && map.kind == MapKind::word)
        set_words(graph, MapId{m}, joined_);
  }
}

void BatchRows::set_words(const Graph& graph, MapId id, std::span<const std::int32_t> words) {
  const RowMap& map = graph.map(id);
  const std::int64_t size = graph.domain(map.to).size;
  for (const std::int32_t word : words)
    if (word >= size || word < (map.partial ? -1 : 0))
      throw Error(fmt::format("word id {} is not in the model's vocabulary '{}' of {} entries",
                              word, graph.domain(map.to).name, size));
  words_[id.index].assign(words.begin(), words.end());
  has_words_[id.index] = true;
}

void BatchRows::expect_all(const Graph& graph) const {
  const auto fail = [&graph](std::string_view kind, std::string_view name) {
    throw Error(fmt::format("graph '{}' needs {} '{}', which the batch does not have", graph.name(),
                            kind, name));
  };
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i});
        map.kind == MapKind::word && graph.domain(map.from).binding == BindingTime::source &&
        !has_words_[i])
      fail("the words of map", map.name);
  for (std::size_t i = 0; i < has_numbers_.size(); ++i)
    if (!has_numbers_[i]) fail("the input", graph.inputs()[i].name);
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (has_sentence_rows(graph.domain(DomainId{i}).kind) && begin_[i].empty())
      fail("the tokens of", graph.domain(DomainId{i}).name);
}

std::int32_t BatchRows::longest(const Graph& graph, DomainKind kind) const {
  std::int32_t rows = 0;
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    if (graph.domain(DomainId{i}).kind != kind) continue;
    for (std::size_t s = 0; s + 1 < begin_[i].size(); ++s)
      rows = std::max(rows, begin_[i][s + 1] - begin_[i][s]);
  }
  return rows;
}

}  // namespace fuselage
