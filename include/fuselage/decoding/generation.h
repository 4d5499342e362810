#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/decoding/translation.h"

namespace FUSELAGE_API fuselage {

/// A text that continues a prompt.
struct Continuation {
  std::string text;  ///< always one line; with GeneratorOptions::include_prompt after the prompt
  Hypothesis hypothesis;  ///< of the words after the prompt, given the prompt
};

/// The continuations of a prompt.
struct Generation {
  std::vector<Continuation> continuations;  ///< best first; never empty
  std::vector<LineOddity> oddities;         ///< of the prompt
  std::size_t prompt_words = 0;
  std::size_t prompt_bytes = 0;  ///< including the line break

  /// The best continuation.
  const std::string& text() const { return continuations.front().text; }
};

}  // namespace fuselage
