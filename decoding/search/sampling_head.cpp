#include "decoding/search/sampling_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuselage/backends/search.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/sampling.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

/// The random number of each hypothesis.
ValueId add_random_numbers(Graph& graph, DomainId hypotheses) {
  const DomainId sentences = graph.sentences_of(hypotheses);
  const std::string name(kSamplingStreams);
  graph.add_input(name, sentences, {4});
  const ValueId streams = graph.result(add_node(graph, op::Input{.name = name}));
  const auto path = graph.structural_path(hypotheses, sentences);
  check(path.has_value(), "a hypothesis belongs to a sentence");
  const ValueId own = graph.result(add_node(graph, op::SelectRows{.via = *path}, {streams}));
  const ValueId position = graph.result(add_node(graph, op::Position{.domain = hypotheses}));
  return graph.result(add_node(graph, op::Uniform{}, {own, position}));
}

/// Words of the vocabulary, ascending.
Dims excluded_words(std::span<const std::int32_t> suppressed, std::int64_t words) {
  Dims excluded;
  for (const std::int32_t word : suppressed)
    if (word >= 0 && word < words) excluded.push_back(word);
  std::sort(excluded.begin(), excluded.end());
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  return excluded;
}

}  // namespace

NodeId add_drawn_words(Graph& graph, const WordScores& scores, const Sampling& sampling,
                       std::span<const std::int32_t> suppressed) {
  verify(sampling);
  if (graph.domain(scores.hypotheses).kind != DomainKind::hypothesis)
    throw Error(
        fmt::format("graph '{}': sampling needs scores for each hypothesis, but they are {}",
                    graph.name(), graph.show(graph.value(scores.value).type)));
  const Dims excluded = excluded_words(suppressed, scores.words);
  const ValueId random = add_random_numbers(graph, scores.hypotheses);
  op::Sample sample{.temperature = sampling.temperature, .excluded = excluded};
  if (sampling.method == SamplingMethod::nucleus) sample.top_p = sampling.p;
  if (sampling.method == SamplingMethod::epsilon) sample.epsilon = sampling.epsilon;
  if (sampling.method == SamplingMethod::top_k) {
    // As many more as there are excluded words, which may be among the best.
    const NodeId best = add_k_best(graph, scores, sampling.k + std::ssize(excluded));
    sample.top_k = sampling.k;
    return add_node(graph, sample, {graph.result(best, 0), random, graph.result(best, 1)});
  }
  if (!scores.pairs) return add_node(graph, sample, {scores.value, random});
  return add_node(graph,
                  op::SegmentSample{.to = scores.pairs->hypothesis,
                                    .words = scores.pairs->word,
                                    .temperature = sample.temperature,
                                    .top_p = sample.top_p,
                                    .epsilon = sample.epsilon,
                                    .excluded = excluded},
                  {scores.value, random});
}

}  // namespace fuselage
