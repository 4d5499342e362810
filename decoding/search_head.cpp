#include "fuselage/decoding/search_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/rows.h"
#include "fuselage/ops/search.h"
#include "fuselage/ops/shortlist.h"
#include "fuselage/ops/softmax.h"
#include "models/architectures/scores.h"

namespace fuselage {
namespace {

void add_best_outputs(Graph& graph, NodeId best) {
  const std::string_view names[] = {kBestScores, kBestWords};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const ValueId value = graph.result(best, i);
    graph.set_value_name(value, std::string(names[i]));
    graph.add_output(std::string(names[i]), value);
  }
}

/// Adds to `graph` the outputs of `model` other than scores.
void add_other_outputs(Graph& graph, const Graph& model, bool alignment) {
  for (const Output& output : model.outputs())
    if (output.name != "logits" && output.name != kLogProbs &&
        (alignment || output.name != kAlignment))
      graph.add_output(output.name, output.value);
}

// --- Shortlists ---

std::string unused_name(const Graph& graph, std::string name) {
  while (graph.find_domain(name).valid()) name += '_';
  return name;
}

/// The target of the hypotheses' word map to a vocabulary of `words` words; a new vocabulary if
/// there is none.
DomainId target_vocabulary(Graph& graph, DomainId hypotheses, std::int64_t words) {
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word && map.from == hypotheses && graph.domain(map.to).size == words)
      return map.to;
  }
  return graph.add_vocabulary(unused_name(graph, "target_words"), words);
}

/// Paths from pairs of a hypothesis and a shortlist word to the hypothesis and to the word.
struct ShortlistPaths {
  MapPath hypothesis, word;
};

ShortlistPaths add_shortlist(Graph& graph, DomainId hypotheses, std::int64_t words) {
  const DomainId vocabulary = target_vocabulary(graph, hypotheses, words);
  const std::string name = unused_name(graph, "shortlist");
  const DomainId shortlist = graph.add_shortlist(name, graph.sentences_of(hypotheses));
  const MapId word = graph.add_word_map(name + ".word", shortlist, vocabulary, false);
  const DomainId pairs = graph.add_pairs(
      unused_name(graph, graph.domain(hypotheses).name + "_" + name), hypotheses, shortlist);
  return {.hypothesis = {graph.map_of(pairs, MapKind::left)},
          .word = {graph.map_of(pairs, MapKind::right), word}};
}

}  // namespace

Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k, bool alignment) {
  Graph graph = model;
  auto [scores, normalized, words] = scores_of(graph);
  graph.clear_outputs();
  if (!normalized && head != SearchHead::k_best_logits) {
    scores = graph.result(add_node(graph, op::LogSoftmax{}, {scores}));
    graph.set_value_name(scores, std::string(kLogProbs));
  }
  if (head == SearchHead::log_probabilities || head == SearchHead::k_best_with_log_probabilities)
    graph.add_output(std::string(kLogProbs), scores);
  if (head != SearchHead::log_probabilities)
    add_best_outputs(graph, add_node(graph, op::KBest{.k = std::min(k, words)}, {scores}));
  add_other_outputs(graph, model, alignment);
  return graph;
}

Graph with_shortlist_head(const Graph& model, SearchHead head, std::int64_t k, bool alignment) {
  check(head == SearchHead::k_best || head == SearchHead::k_best_logits,
        "a shortlist has no scores for all words");
  Graph graph = model;
  const auto [logits, normalized, words] = scores_of(graph);
  if (normalized)
    throw Error(fmt::format(
        "graph '{}' gives log-probabilities of all words, as an ensemble does, and not the logits "
        "that a shortlist needs; leave the shortlist out, or use one model",
        model.name()));
  const Type& type = graph.value(logits).type;
  if (graph.domain(type.domain).kind != DomainKind::hypothesis)
    throw Error(
        fmt::format("graph '{}': a shortlist needs logits for each hypothesis, but they are {}",
                    model.name(), graph.show(type)));
  const ShortlistPaths paths = add_shortlist(graph, type.domain, words);
  graph.clear_outputs();
  ValueId scores = graph.result(add_node(
      graph, op::SelectElements{.row = paths.hypothesis, .element = paths.word}, {logits}));
  if (head == SearchHead::k_best) {
    scores = graph.result(add_node(graph, op::SegmentLogSoftmax{.to = paths.hypothesis}, {scores}));
    graph.set_value_name(scores, std::string(kLogProbs));
  }
  add_best_outputs(
      graph, add_node(graph,
                      op::SegmentKBest{
                          .k = std::min(k, words), .to = paths.hypothesis, .words = paths.word},
                      {scores}));
  add_other_outputs(graph, model, alignment);
  return graph;
}

void expect_alignment(const Graph& model) {
  if (!model.find_output(kAlignment).valid())
    throw Error(fmt::format("graph '{}' has no output '{}', so alignments cannot be had from it",
                            model.name(), kAlignment));
}

}  // namespace fuselage
