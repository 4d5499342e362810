#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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
  std::optional<AlignmentFormat> alignment;
};

/// The weights of each source word, target word by target word, as "0-0 1-2" or, soft, as
/// "0.9,0.1 0.2,0.8".
std::string format_alignment(const std::vector<std::vector<float>>& weights,
                             const AlignmentFormat& format);

/// The lines of one translation, the best alone or all, each with its end of line.
std::string format_translation(std::size_t line, const Translation& translation,
                               const OutputFormat& format);

/// The line of one scored pair, with its end of line.
std::string format_score(const PairScore& score, const OutputFormat& format);

}  // namespace fuselage
