#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search/final_scores.h"
#include "decoding/search/term_automaton.h"
#include "fuselage/backends/search.h"
#include "fuselage/decoding/search_guide.h"

namespace fuselage {

/// A sentence whose translation is under way: its limits, its guide, and the words of all its
/// hypotheses.
struct SentenceSearch {
  std::int32_t source_length = 0;
  std::int32_t beam_size = 1, n_best = 1;
  std::int32_t candidates_per_row = 1;  ///< of the best words of a row, those that count
  std::int32_t word_limit = 0;          ///< of a hypothesis, its prefix included
  SearchGuide guide;
  TermAutomaton terms;              ///< of the guide
  BestScores best;                  ///< of finished hypotheses, where they end a search
  SearchRecord record;              ///< of steps on the host
  std::vector<float> alignments;    ///< for each token, weights of all source tokens
  std::vector<float> model_scores;  ///< for each token, sums up to it, model by model

  /// Of the store of sentences that come and go.
  std::int64_t store_rows = 0, store_words = 0;
  bool in_store = false;

  std::int32_t prefix_length() const { return static_cast<std::int32_t>(guide.prefix.size()); }

  const SearchRecord::Token& token(std::int32_t at) const {
    return record.tokens[static_cast<std::size_t>(at)];
  }
};

}  // namespace fuselage
