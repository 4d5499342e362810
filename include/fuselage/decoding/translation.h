#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A defect of an input line that does not prevent its translation.
enum class LineOddity : std::uint8_t {
  empty,         ///< no words; its translation is empty
  invalid_text,  ///< invalid UTF-8, or NUL; invalid bytes are read as U+FFFD
  too_long,      ///< more than max-length words; the rest is cut off
  too_large,     ///< more than kMaxLineBytes bytes; the rest is cut off at a character boundary
  line_break,    ///< a line break inside, which counts as a space: the text is one line
};

/// A translation with its scores.
struct Hypothesis {
  std::vector<std::int32_t> words;  ///< with the end symbol, unless cut off at the length limit
  std::vector<float> word_scores;   ///< log-probability of each word
  float log_probability = 0;        ///< sum of the word scores
  float score = 0;                  ///< with word penalty and length normalization
  /// The log-probability that each model of an ensemble gives; empty unless requested.
  std::vector<float> model_scores = {};
  /// Weight of each source token for each word, word by word; empty unless requested.
  std::vector<std::vector<float>> alignment;
};

/// A translation as text, and the hypothesis that it was decoded from.
struct TranslatedText {
  std::string text;  ///< always one line
  Hypothesis hypothesis;
};

/// A part of a text, in bytes.
struct TokenSpan {
  std::size_t begin = 0, end = 0;
  bool operator==(const TokenSpan&) const = default;
};

/// Where the tokens of a line and of its translation are in their texts, without the end symbols,
/// in the order of Hypothesis::alignment.
struct TokenSpans {
  std::vector<TokenSpan> source, target;
};

/// The translation of a line.
struct Translation {
  std::vector<TranslatedText> n_best;  ///< best first; never empty
  std::vector<LineOddity> oddities;
  std::size_t source_words = 0;  ///< including the end symbol
  std::size_t source_bytes = 0;  ///< including the line break

  /// The best translation.
  const std::string& text() const { return n_best.front().text; }
};

/// The score of a pair of lines, or of a line by a language model.
struct PairScore {
  std::vector<float> word_scores;  ///< log-probability of each target word, end symbol included
  float log_probability = 0;       ///< sum of the word scores
  float score = 0;                 ///< with word penalty and length normalization
  std::vector<std::vector<float>> alignment;
  std::vector<LineOddity> source_oddities, target_oddities;
  std::size_t source_words = 0;          ///< including the end symbol
  std::size_t source_bytes = 0;          ///< including the line break
  std::vector<std::int32_t> words = {};  ///< target words, by id, with the end symbol
};

}  // namespace fuselage
