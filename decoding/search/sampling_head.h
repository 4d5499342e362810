#pragma once

#include <cstdint>
#include <span>

#include "decoding/search/word_scores.h"
#include "fuselage/decoding/sampling.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Adds ops that draw a word for each hypothesis, in place of the best words: score f32[1] and word
/// i32[1]. Words of `suppressed` are never drawn. Declares the input kSamplingStreams, from which
/// the random numbers follow: a hypothesis of n words has number n of its sentence's stream. Throws
/// Error for a sampling that is out of range, and unless rows of scores are hypotheses.
NodeId add_drawn_words(Graph& graph, const WordScores& scores, const Sampling& sampling,
                       std::span<const std::int32_t> suppressed);

}  // namespace fuselage
