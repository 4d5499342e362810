#include "decoding/search/repetition_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/repetition.h"
#include "fuselage/ops/structure/loop.h"
#include "graph/names.h"

namespace fuselage {
namespace {

DomainId find_or_add_prefix(Graph& graph, DomainId hypotheses) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.kind == DomainKind::prefix && domain.of == hypotheses) return DomainId{i};
  }
  return graph.add_prefix(unused_domain_name(graph, "prefix"), hypotheses);
}

DomainId find_or_add_pairs(Graph& graph, DomainId hypotheses, DomainId prefix) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.kind == DomainKind::pairs && domain.left == hypotheses && domain.right == prefix &&
        domain.window.has_all())
      return DomainId{i};
  }
  return graph.add_pairs(unused_domain_name(graph, graph.domain(hypotheses).name + "_words"),
                         hypotheses, prefix);
}

MapId word_map(const Graph& graph, DomainId hypotheses) {
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i});
        map.kind == MapKind::word && map.from == hypotheses)
      return MapId{i};
  throw Error(fmt::format(
      "graph '{}' has no map from '{}' to words, so repetitions cannot be found; leave measures "
      "against them out",
      graph.name(), graph.domain(hypotheses).name));
}

/// Sequences of words of the vocabulary, as op::PenalizeRepeats has them.
Dims with_ends(const std::vector<WordIds>& sequences, std::int64_t words) {
  const auto is_word = [words](std::int32_t id) { return id >= 0 && id < words; };
  Dims ids;
  for (const WordIds& sequence : sequences) {
    if (sequence.empty() || !std::ranges::all_of(sequence, is_word)) continue;
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    ids.push_back(-1);
  }
  return ids;
}

}  // namespace

void verify(const Repetition& repetition) {
  if (!(repetition.penalty > 0) || !std::isfinite(repetition.penalty))
    throw Error(fmt::format("repetition-penalty must be above 0, not {}", repetition.penalty));
  if (repetition.no_repeat_ngram_size < 0 || repetition.no_repeat_ngram_size > kMaxNgram)
    throw Error(fmt::format("no-repeat-ngram-size must be from 0 to {}, not {}", kMaxNgram,
                            repetition.no_repeat_ngram_size));
}

WordScores penalized(Graph& graph, WordScores scores, const SearchHeadOptions& options) {
  const Repetition& repetition = options.repetition;
  verify(repetition);
  const MapId word = word_map(graph, scores.hypotheses);
  const DomainId prefix = find_or_add_prefix(graph, scores.hypotheses);
  const DomainId history = find_or_add_pairs(graph, scores.hypotheses, prefix);
  const ValueId newest = graph.result(add_node(
      graph, op::RowNumber{.via = {word}, .unmapped = std::max(options.start_word, -1)}, {}));
  const ValueId words = graph.result(add_node(graph, op::History{.domain = prefix}, {newest}));
  const MapPath to{graph.map_of(history, MapKind::left)};
  const MapPath via{graph.map_of(history, MapKind::right)};
  const double penalty = repetition.penalty;
  const std::int64_t ngram = repetition.no_repeat_ngram_size;
  const Dims forbidden = with_ends(options.forbidden, scores.words);
  const NodeId node = scores.pairs
                          ? add_node(graph,
                                     op::SegmentPenalizeRepeats{.row = scores.pairs->hypothesis,
                                                                .listed = scores.pairs->word,
                                                                .to = to,
                                                                .via = via,
                                                                .penalty = penalty,
                                                                .ngram = ngram,
                                                                .forbidden = forbidden},
                                     {scores.value, words})
                          : add_node(graph,
                                     op::PenalizeRepeats{.to = to,
                                                         .via = via,
                                                         .penalty = penalty,
                                                         .ngram = ngram,
                                                         .forbidden = forbidden},
                                     {scores.value, words});
  scores.value = graph.result(node);
  return scores;
}

}  // namespace fuselage
