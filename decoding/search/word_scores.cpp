#include "decoding/search/word_scores.h"

#include <algorithm>

#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/shortlist.h"

namespace fuselage {

NodeId add_k_best(Graph& graph, const WordScores& scores, std::int64_t most) {
  const std::int64_t k = std::min(most, scores.words);
  if (!scores.pairs) return add_node(graph, op::KBest{.k = k}, {scores.value});
  return add_node(
      graph, op::SegmentKBest{.k = k, .to = scores.pairs->hypothesis, .words = scores.pairs->word},
      {scores.value});
}

}  // namespace fuselage
