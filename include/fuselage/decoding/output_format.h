#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/decoding/generation.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"

namespace FUSELAGE_API fuselage {

/// How an alignment is printed; see parse_alignment_format.
struct AlignmentFormat {
  bool soft = false;
  float threshold = 1;  ///< hard: 1: the best source word; below 1: all words above the threshold
};

/// Reads an alignment format: "soft"; "hard", "1" or ""; or a number between 0 and 1. Throws Error
/// for anything else.
AlignmentFormat parse_alignment_format(std::string_view text);

/// Which parts of a translation to print, in marian-decoder's format unless `json`.
struct OutputFormat {
  bool n_best = false;
  bool word_scores = false;
  /// Print a JSON object for each line instead of marian-decoder's format; see docs/output.md.
  bool json = false;
  std::optional<AlignmentFormat> alignment;
};

/// Pairs of a source and a target position with a weight above `threshold`, sorted; at a threshold
/// of 1, for each target position the source position with the largest weight.
std::vector<std::pair<std::size_t, std::size_t>> hard_alignment(
    const std::vector<std::vector<float>>& weights, float threshold);

/// The weights of the source words for each target word as text: "0-0 1-2", or with `soft`
/// "0.9,0.1 0.2,0.8".
std::string format_alignment(const std::vector<std::vector<float>>& weights,
                             const AlignmentFormat& format);

/// The lines of one translation: the best hypothesis, or all. Each line ends with a line break.
std::string format_translation(std::size_t line, const Translation& translation,
                               const OutputFormat& format);

/// The lines of the continuations of a prompt, as those of a translation.
std::string format_generation(std::size_t line, const Generation& generation,
                              const OutputFormat& format);

/// The line of one scored pair, with a line break; `line` is counted from 0.
std::string format_score(std::size_t line, const PairScore& score, const OutputFormat& format);

/// The line of a scored entry of an n-best list, with a line break: the entry with the feature
/// `name` (add_feature), or a JSON object with the number of its source line, text and scores.
std::string format_n_best_score(const NBestEntry& entry, const PairScore& score,
                                std::string_view name, const OutputFormat& format);

}  // namespace fuselage
