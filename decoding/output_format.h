#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoding/scorer.h"
#include "decoding/translator.h"

namespace fuselage {

/// How an alignment is printed; see parse_alignment_format.
struct AlignmentFormat {
  bool soft = false;
  float threshold = 1;  ///< hard: 1 takes the best source word, less all words above it
};

/// Reads the value of --alignment: "soft"; "hard", "1" or nothing; or a number between 0 and 1.
/// Throws Error for anything else.
AlignmentFormat parse_alignment_format(std::string_view text);

/// What is printed of a translation, as marian-decoder prints it.
struct OutputFormat {
  bool n_best = false;
  bool word_scores = false;
  /// A JSON object for each line in the place of marian-decoder's format; see docs/output.md.
  bool json = false;
  std::optional<AlignmentFormat> alignment;
};

/// Pairs of a source and a target position whose weight is above `threshold`, sorted by both; at a
/// threshold of 1 the source position of the largest weight for each target position.
std::vector<std::pair<std::size_t, std::size_t>> hard_alignment(
    const std::vector<std::vector<float>>& weights, float threshold);

/// The weights of each source word, target word by target word, as "0-0 1-2" or, soft, as
/// "0.9,0.1 0.2,0.8".
std::string format_alignment(const std::vector<std::vector<float>>& weights,
                             const AlignmentFormat& format);

/// The lines of one translation, the best alone or all, each with its end of line.
std::string format_translation(std::size_t line, const Translation& translation,
                               const OutputFormat& format);

/// The line of one scored pair, `line` counted from 0, with its end of line.
std::string format_score(std::size_t line, const PairScore& score, const OutputFormat& format);

}  // namespace fuselage
