#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace fuselage {

/// What a model gives the target words: a row per live hypothesis, an element per word.
struct ModelScores {
  ValueId value;
  /// They are log-probabilities, or a combination of such, to be ranked and summed as they are;
  /// otherwise log-softmax makes log-probabilities of them.
  bool log_probs = false;
  std::int64_t words = 0;
};

/// The output "logits" of a model's graph, or else "log_probs". Throws Error when it has neither.
ModelScores scores_of(const Graph& graph);

}  // namespace fuselage
