#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// A live hypothesis: the next step computes a row for it.
struct LiveHypothesis {
  std::int32_t sentence;
  std::int32_t token;   ///< newest token; -1 at the start
  std::int32_t word;    ///< word of the newest token; -1 at the start
  std::int32_t row;     ///< row of its parent in the last step; -1 at the start
  std::int32_t length;  ///< words so far; the same for all hypotheses of a sentence
  float path_score;     ///< sum of the words' scores
};

/// The live hypotheses of a batch in device memory, grouped by sentence, in the order of sentences.
/// A sentence has no other state, so a slot without rows can be given to another sentence between
/// two steps (DeviceSearch::refill).
struct LiveHypotheses {
  const LiveHypothesis* rows = nullptr;
  /// First row of each sentence, and the number of rows.
  const std::int32_t* begin = nullptr;
  const std::int32_t* sentences = nullptr;  ///< number of sentences
  std::int32_t max_sentences = 0;
};

}  // namespace fuselage::cuda
