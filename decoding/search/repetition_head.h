#pragma once

#include "decoding/search/word_scores.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Whether there are rules for words behind those of a hypothesis.
inline bool has_rules(const SearchHeadOptions& options) {
  return !options.repetition.is_off() || !options.forbidden.empty();
}

/// The scores with penalties for words that a hypothesis has, or that its decoder begins with.
/// Throws Error for numbers out of range, and for hypotheses without a word map.
WordScores penalized(Graph& graph, WordScores scores, const SearchHeadOptions& options);

}  // namespace fuselage
