#pragma once

#include <optional>

#include "fuselage/decoding/repetition.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Paths from pairs of a hypothesis and a shortlist word to the hypothesis and to the word.
struct ShortlistPaths {
  MapPath hypothesis, word;
};

/// Adds the penalties of words that a hypothesis has. `scores` has a row for each of `hypotheses`
/// or, with `pairs`, for each pair. Throws Error for hypotheses without a word map.
ValueId add_repetition(Graph& graph, ValueId scores, DomainId hypotheses,
                       const std::optional<ShortlistPaths>& pairs, const Repetition& repetition);

}  // namespace fuselage
