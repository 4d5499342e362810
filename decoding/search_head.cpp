#include "fuselage/decoding/search_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/ops/leaf.h"
#include "fuselage/ops/pointwise.h"
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

/// Adds to `graph` the outputs of `model` other than scores of words.
void add_other_outputs(Graph& graph, const Graph& model, bool alignment) {
  for (const Output& output : model.outputs())
    if (output.name != "logits" && output.name != kLogProbs && !is_member_output(output.name) &&
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

/// The scores of the words of shortlists in place of the scores of all words. Log-probabilities are
/// normalized over these words, also where a model adds them up, as an ensemble does.
class ShortlistScores {
 public:
  ShortlistScores(Graph& graph, const ShortlistPaths& paths) : graph_(graph), paths_(paths) {}

  ValueId logits(ValueId all) {
    return graph_.result(add_node(
        graph_, op::SelectElements{.row = paths_.hypothesis, .element = paths_.word}, {all}));
  }

  ValueId log_probs_of_logits(ValueId all) {
    return graph_.result(
        add_node(graph_, op::SegmentLogSoftmax{.to = paths_.hypothesis}, {logits(all)}));
  }

  /// `all` is a log-softmax, or a weighted sum of several. Throws Error for anything else.
  ValueId log_probs(ValueId all) {
    const auto [known, is_new] = done_.try_emplace(all.index);
    if (is_new) known->second = make_log_probs(all);
    return done_.at(all.index);
  }

 private:
  ValueId make_log_probs(ValueId all) {
    const Node node = graph_.producer(all);
    if (node.is<op::LogSoftmax>()) return log_probs_of_logits(node.operands[0]);
    if (node.is<op::Add>())
      return graph_.result(
          add_node(graph_, op::Add{}, {log_probs(node.operands[0]), log_probs(node.operands[1])}));
    if (node.is<op::Mul>())
      for (std::size_t i = 0; i < 2; ++i)
        if (graph_.producer(node.operands[i]).is<op::Constant>() &&
            row_size(graph_.value(node.operands[i]).type) == 1)
          return graph_.result(
              add_node(graph_, op::Mul{}, {log_probs(node.operands[1 - i]), node.operands[i]}));
    throw Error(fmt::format(
        "graph '{}': its log-probabilities come from {}, and not from logits that could be "
        "normalized over the words of a shortlist; leave the shortlist out",
        graph_.name(), graph_.describe(graph_.value(all).producer)));
  }

  Graph& graph_;
  ShortlistPaths paths_;
  std::map<std::uint32_t, ValueId> done_;
};

}  // namespace

Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k, bool alignment,
                       bool members) {
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
  for (const Output& output : model.outputs())
    if (members && is_member_output(output.name)) graph.add_output(output.name, output.value);
  add_other_outputs(graph, model, alignment);
  return graph;
}

Graph with_shortlist_head(const Graph& model, SearchHead head, std::int64_t k, bool alignment,
                          bool members) {
  check(head == SearchHead::k_best || head == SearchHead::k_best_logits,
        "a shortlist has no scores for all words");
  Graph graph = model;
  const auto [all, normalized, words] = scores_of(graph);
  const Type& type = graph.value(all).type;
  if (graph.domain(type.domain).kind != DomainKind::hypothesis)
    throw Error(
        fmt::format("graph '{}': a shortlist needs scores for each hypothesis, but they are {}",
                    model.name(), graph.show(type)));
  const ShortlistPaths paths = add_shortlist(graph, type.domain, words);
  graph.clear_outputs();
  ShortlistScores listed(graph, paths);
  ValueId scores;
  if (normalized)
    scores = listed.log_probs(all);
  else
    scores = head == SearchHead::k_best ? listed.log_probs_of_logits(all) : listed.logits(all);
  if (normalized || head == SearchHead::k_best)
    graph.set_value_name(scores, std::string(kLogProbs));
  add_best_outputs(
      graph, add_node(graph,
                      op::SegmentKBest{
                          .k = std::min(k, words), .to = paths.hypothesis, .words = paths.word},
                      {scores}));
  for (const Output& output : model.outputs())
    if (members && is_member_output(output.name))
      graph.add_output(output.name, listed.log_probs(output.value));
  add_other_outputs(graph, model, alignment);
  return graph;
}

void expect_alignment(const Graph& model) {
  if (!model.find_output(kAlignment).valid())
    throw Error(fmt::format("graph '{}' has no output '{}', so alignments cannot be had from it",
                            model.name(), kAlignment));
}

}  // namespace fuselage
