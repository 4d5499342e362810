#include "fuselage/decoding/search_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "decoding/search/normalized_scores.h"
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

WordMask mask_of(const SearchHeadOptions& options) {
  if (!options.renormalize) return {};
  return {
      .suppressed = options.suppressed, .min_length = options.min_length, .end_id = options.end_id};
}

/// Whether rules for words behind those of a hypothesis change logits. Words without a score are
/// then no part of the probabilities.
bool changes_logits(const SearchHeadOptions& options) {
  return has_rules(options) &&
         (options.penalizes_logits || (options.renormalize && options.repetition.penalty == 1));
}

LogitChanges changes_of(Graph& graph, const SearchHeadOptions& options,
                        const std::optional<ShortlistPaths>& shortlist) {
  LogitChanges changes{.shortlist = shortlist};
  if (changes_logits(options))
    changes.last = [&graph, &options](WordScores scores) {
      return penalized(graph, std::move(scores), options);
    };
  // A penalty is for log-probabilities of all words; of a list those without a score are left out.
  if (!has_rules(options) || changes_logits(options) || shortlist) changes.mask = mask_of(options);
  return changes;
}

WordScores penalized_scores(Graph& graph, WordScores scores, const SearchHeadOptions& options) {
  scores = penalized(graph, std::move(scores), options);
  if (!options.renormalize) return scores;
  if (scores.pairs) {
    scores.value = graph.result(
        add_node(graph, op::SegmentLogSoftmax{.to = scores.pairs->hypothesis}, {scores.value}));
  } else {
    scores.value = masked(graph, scores, mask_of(options));
    scores.value = graph.result(add_node(graph, op::LogSoftmax{}, {scores.value}));
  }
  return scores;
}

/// The words that the search takes, the k best or one that is drawn.
NodeId add_choice(Graph& graph, WordScores scores, const SearchHeadOptions& options) {
  if (has_rules(options) && !changes_logits(options))
    scores = penalized_scores(graph, std::move(scores), options);
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
  check(head == SearchHead::k_best || !options.renormalize,
        "only log-probabilities are normalized");
  check(head != SearchHead::log_probabilities || !options.shortlist,
        "a shortlist has no scores for all words");
  Graph graph = model;
  const ModelScores given = scores_of(graph);
  const DomainId hypotheses = graph.value(given.value).type.domain;
  if (options.shortlist || options.listed || has_rules(options) || !mask_of(options).is_empty())
    expect_hypotheses(graph, graph.value(given.value).type);
  std::optional<ShortlistPaths> shortlist;
  if (options.shortlist) shortlist = add_shortlist(graph, hypotheses, given.words);
  graph.clear_outputs();
  NormalizedScores normalized(graph, given, changes_of(graph, options, shortlist));
  const WordScores scores = normalized.scores(head == SearchHead::k_best_logits);
  if (head == SearchHead::log_probabilities)
    graph.add_output(std::string(kLogProbs), scores.value);
  else
    add_best_outputs(graph, add_choice(graph, scores, options));
  if (options.listed)
    add_listed_scores(graph,
                      options.renormalize || changes_logits(options)
                          ? NormalizedScores(graph, given, {.shortlist = shortlist}).scores(false)
                          : scores);
  for (const Output& output : model.outputs())
    if (options.members && is_member_output(output.name))
      graph.add_output(output.name, normalized.log_probs(output.value));
  add_other_outputs(graph, model, options.alignment);
  return graph;
}

void expect_alignment(const Graph& model) {
  if (!model.find_output(kAlignment).valid())
    throw Error(fmt::format("graph '{}' has no output '{}', so alignments cannot be had from it",
                            model.name(), kAlignment));
}

}  // namespace fuselage
