#pragma once

#include <cstdint>
#include <optional>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Paths from pairs of a hypothesis and a shortlist word to the hypothesis and to the word.
struct ShortlistPaths {
  MapPath hypothesis, word;
};

/// Log-probabilities or logits of words, and where they are.
struct WordScores {
  ValueId value;
  DomainId hypotheses;
  std::int64_t words = 0;  ///< of the vocabulary
  /// Of a shortlist: a row is a pair of a hypothesis and a word. Otherwise rows are hypotheses.
  std::optional<ShortlistPaths> pairs = {};
};

/// Adds the op for the best words of each hypothesis, at most `most`: scores and words.
NodeId add_k_best(Graph& graph, const WordScores& scores, std::int64_t most);

}  // namespace fuselage
