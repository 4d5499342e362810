#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

// The contract between a search, on the host or in a worker, and the step program.

// Names of the outputs read by searches.
inline constexpr std::string_view kBestScores = "best_scores";  ///< hypothesis f32[k], best first
inline constexpr std::string_view kBestWords = "best_words";    ///< hypothesis i32[k], their words
inline constexpr std::string_view kLogProbs = "log_probs";      ///< hypothesis f32[vocabulary]
/// Optional: the log-probability f32[1] of each pair of a hypothesis and a word that its sentence
/// lists (Batch::shortlists).
inline constexpr std::string_view kListedScores = "listed_scores";
/// Optional input of a graph that draws words: the stream of random numbers of each sentence,
/// f32[4] (op::Uniform).
inline constexpr std::string_view kSamplingStreams = "sampling_streams";
/// Optional: a weight for each pair of hypothesis and source token.
inline constexpr std::string_view kAlignment = "alignment";

/// The output with the log-probabilities of model `number` of an ensemble, "log_probs.0" for the
/// first: hypothesis f32[vocabulary], or f32[1] for each pair of a hypothesis and a word of its
/// shortlist.
std::string member_output(std::size_t number);
/// Whether an output is one of these.
bool is_member_output(std::string_view name);

/// Settings of a search.
struct SearchSettings {
  std::int32_t beam_size = 1;
  std::int32_t end_id = 0;
  std::vector<std::int32_t> suppressed;     ///< words that are never produced, in ascending order
  std::vector<std::int32_t> length_limits;  ///< maximum words of each translation
};

/// The result of a search: all chosen words, and the finished hypotheses.
struct SearchRecord {
  /// A word of a hypothesis, linked to the preceding word.
  struct Token {
    std::int32_t word;
    std::int32_t previous;  ///< index of a token; -1: this is the first word
    float score;            ///< its log-probability
  };
  struct Finished {
    std::int32_t sentence;
    std::int32_t token;   ///< index of the last token
    std::int32_t length;  ///< number of words, the last one included
    float path_score;     ///< sum of the word scores
  };
  /// Only tokens reachable from finished hypotheses are defined.
  std::vector<Token> tokens;
  /// Hypotheses of a sentence are in order of completion, within a step the better ones first.
  std::vector<Finished> finished;
};

/// The message of the Error for NaN scores after `words` words of a translation.
std::string scores_are_not_numbers(std::int32_t words);

}  // namespace fuselage
