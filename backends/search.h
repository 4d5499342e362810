#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

// What a search and the program of a step agree on, whoever searches: the host or a worker.

// Names of the outputs that searches read.
inline constexpr std::string_view kBestScores = "best_scores";  ///< hypothesis f32[k], best first
inline constexpr std::string_view kBestWords = "best_words";    ///< hypothesis i32[k], their words
inline constexpr std::string_view kLogProbs = "log_probs";      ///< hypothesis f32[vocabulary]
/// A weight for each pair of hypothesis and source token; optional.
inline constexpr std::string_view kAlignment = "alignment";

/// What a search needs to know beside a batch and its scores.
struct SearchSettings {
  std::int32_t beam_size = 1;
  std::int32_t end_id = 0;
  std::vector<std::int32_t> suppressed;     ///< words that are never produced, ascending
  std::vector<std::int32_t> length_limits;  ///< most words of each sentence's translation
};

/// What a search leaves: all words that it chose, and the hypotheses that ended.
struct SearchRecord {
  /// A word of some hypothesis, linked to the one before it.
  struct Token {
    std::int32_t word;
    std::int32_t previous;  ///< number of a token; -1: the first word
    float score;            ///< its log-probability
  };
  struct Finished {
    std::int32_t sentence;
    std::int32_t token;   ///< number of its last one
    std::int32_t length;  ///< words, that one included
    float path_score;     ///< sum of their scores
  };
  /// Only those that finished hypotheses lead to mean anything.
  std::vector<Token> tokens;
  /// Those of a sentence in the order in which they ended, within a step the better ones first.
  std::vector<Finished> finished;
};

/// What an Error says when a search meets scores that are not numbers, after so many words of a
/// translation.
std::string scores_are_not_numbers(std::int32_t words);

}  // namespace fuselage
