#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// A hypothesis that the next step is computed for.
struct LiveRow {
  std::int32_t sentence;
  std::int32_t token;   ///< its newest; -1: none yet
  std::int32_t word;    ///< of that token; -1: none yet
  std::int32_t row;     ///< where it stood in the last step; -1: nowhere
  std::int32_t length;  ///< words that it took up to now; the same for all of a sentence
  float path_score;     ///< sum of their scores
};

/// The live hypotheses of a batch in device memory: those of a sentence side by side, one sentence
/// after the other. Nothing but its run of rows says how far a sentence is, so that one without
/// rows can give its place to another between two steps (DeviceSearch::refill).
struct LiveRows {
  const LiveRow* rows = nullptr;
  /// First row of each sentence, and one past the last.
  const std::int32_t* begin = nullptr;
  const std::int32_t* sentences = nullptr;  ///< how many there are
  std::int32_t most_sentences = 0;
};

}  // namespace fuselage::cuda
