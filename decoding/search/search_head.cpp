#include "fuselage/decoding/search_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "decoding/search/repetition_head.h"
#include "decoding/search/sampling_head.h"
#include "decoding/search/word_scores.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "graph/names.h"
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

/// The target of the hypotheses' word map to a vocabulary of `words` words; a new vocabulary if
/// there is none.
DomainId target_vocabulary(Graph& graph, DomainId hypotheses, std::int64_t words) {
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word && map.from == hypotheses && graph.domain(map.to).size == words)
      return map.to;
  }
  return graph.add_vocabulary(unused_domain_name(graph, "target_words"), words);
}

ShortlistPaths add_shortlist(Graph& graph, DomainId hypotheses, std::int64_t words) {
  const DomainId vocabulary = target_vocabulary(graph, hypotheses, words);
  const std::string name = unused_domain_name(graph, "shortlist");
  const DomainId shortlist = graph.add_shortlist(name, graph.sentences_of(hypotheses));
  const MapId word = graph.add_word_map(name + ".word", shortlist, vocabulary, false);
  const DomainId pairs = graph.add_pairs(
      unused_domain_name(graph, graph.domain(hypotheses).name + "_" + name), hypotheses, shortlist);
  return {.hypothesis = {graph.map_of(pairs, MapKind::left)},
          .word = {graph.map_of(pairs, MapKind::right), word}};
}

/// The scores of the words of shortlists in place of the scores of all words. Log-probabilities are
/// normalized over these words, also where a model adds them up, as an ensemble does.
class ShortlistScores {
 public:
  ShortlistScores(Graph& graph, const ShortlistPaths& paths) : graph_(graph), paths_(paths) {}

  const ShortlistPaths& paths() const { return paths_; }

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

WordScores scores_of_all(Graph& graph, SearchHead head, const ModelScores& given) {
  auto [scores, normalized, words] = given;
  if (!normalized && head != SearchHead::k_best_logits) {
    scores = graph.result(add_node(graph, op::LogSoftmax{}, {scores}));
    graph.set_value_name(scores, std::string(kLogProbs));
  }
  return {.value = scores, .hypotheses = graph.value(scores).type.domain, .words = words};
}

WordScores scores_of_listed(Graph& graph, SearchHead head, const ModelScores& given,
                            ShortlistScores& listed) {
  const auto [all, normalized, words] = given;
  ValueId scores;
  if (normalized)
    scores = listed.log_probs(all);
  else
    scores = head == SearchHead::k_best ? listed.log_probs_of_logits(all) : listed.logits(all);
  if (normalized || head == SearchHead::k_best)
    graph.set_value_name(scores, std::string(kLogProbs));
  return {.value = scores,
          .hypotheses = graph.value(all).type.domain,
          .words = words,
          .pairs = listed.paths()};
}

/// The words that the search takes, the k best or one that is drawn.
NodeId add_choice(Graph& graph, WordScores scores, const SearchHeadOptions& options) {
  if (!options.repetition.is_off()) scores = penalized(graph, scores, options.repetition);
  if (options.sampling)
    return add_drawn_words(graph, scores, *options.sampling, options.suppressed);
  return add_k_best(graph, scores, options.k);
}

void add_listed_scores(Graph& graph, const WordScores& scores) {
  ValueId listed = scores.value;
  if (!scores.pairs) {
    const ShortlistPaths pairs = add_shortlist(graph, scores.hypotheses, scores.words);
    listed = graph.result(add_node(
        graph, op::SelectElements{.row = pairs.hypothesis, .element = pairs.word}, {listed}));
  }
  graph.add_output(std::string(kListedScores), listed);
}

/// Throws unless rows of scores are hypotheses, which words of a sentence can be listed for.
void expect_hypotheses(const Graph& graph, const Type& scores) {
  if (graph.domain(scores.domain).kind != DomainKind::hypothesis)
    throw Error(
        fmt::format("graph '{}': the search needs scores for each hypothesis, but they are {}",
                    graph.name(), graph.show(scores)));
}

}  // namespace

Graph with_search_head(const Graph& model, SearchHead head, const SearchHeadOptions& options) {
  check(head == SearchHead::k_best || !(options.members || options.listed || options.sampling ||
                                        !options.repetition.is_off()),
        "scores of models and of listed words, penalties and sampling are for log-probabilities");
  check(head != SearchHead::log_probabilities || !options.shortlist,
        "a shortlist has no scores for all words");
  Graph graph = model;
  const ModelScores given = scores_of(graph);
  if (options.shortlist || options.listed || !options.repetition.is_off())
    expect_hypotheses(graph, graph.value(given.value).type);
  std::optional<ShortlistScores> shortlist;
  if (options.shortlist)
    shortlist.emplace(graph,
                      add_shortlist(graph, graph.value(given.value).type.domain, given.words));
  graph.clear_outputs();
  const WordScores scores = shortlist ? scores_of_listed(graph, head, given, *shortlist)
                                      : scores_of_all(graph, head, given);
  if (head == SearchHead::log_probabilities)
    graph.add_output(std::string(kLogProbs), scores.value);
  else
    add_best_outputs(graph, add_choice(graph, scores, options));
  if (options.listed) add_listed_scores(graph, scores);
  for (const Output& output : model.outputs())
    if (options.members && is_member_output(output.name))
      graph.add_output(output.name, shortlist ? shortlist->log_probs(output.value) : output.value);
  add_other_outputs(graph, model, options.alignment);
  return graph;
}

void expect_alignment(const Graph& model) {
  if (!model.find_output(kAlignment).valid())
    throw Error(fmt::format("graph '{}' has no output '{}', so alignments cannot be had from it",
                            model.name(), kAlignment));
}

}  // namespace fuselage
