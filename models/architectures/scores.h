#pragma once

#include <cstdint>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// A model's scores of the target words: a row per live hypothesis, an element per word.
struct ModelScores {
  ValueId value;
  /// True: log-probabilities or a combination of them, ranked and summed unchanged. False: logits,
  /// to be normalized by log-softmax.
  bool log_probs = false;
  std::int64_t words = 0;
};

/// Whether scores are never above 0, whatever the weights: the log-softmax of logits, or a sum of
/// such with weights that are not negative. Scores that are logits become so.
bool never_above_zero(const Graph& graph, const ModelScores& scores);

/// The output "logits" of a model's graph, or else "log_probs". Throws Error if there is neither.
ModelScores scores_of(const Graph& graph);

}  // namespace fuselage
