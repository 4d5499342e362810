#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A term of the target language in one or several forms, of which one has to occur.
using Term = std::vector<std::string>;

/// Demands on the translation of a line, and its place in a larger text.
struct LineGuide {
  std::string prefix = {};       ///< the beginning of the translation
  std::vector<Term> terms = {};  ///< terms that the translation contains, in any order
  std::int32_t beam_size = 0;    ///< at most that of the translator; 0: that one
  std::int32_t n_best = 0;       ///< at most the beam; 0: that of the translator, at most the beam
  /// The number of the line, from 0, in place of its number in the call: for messages, and for the
  /// samples that are drawn.
  std::optional<std::size_t> number = {};
  std::size_t part = 0;  ///< which of the lines with this number: samples of each differ
};

}  // namespace fuselage
