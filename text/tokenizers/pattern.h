#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizers/aligned_text.h"

namespace fuselage {

class JsonPart;

/// What a step of a tokenizer.json looks for in a text: a text, or a regular expression of which
/// these are known: " {n,}", " +", "\s+" (and other counts of them).
class TextPattern {
 public:
  /// The member `pattern` of a part. Throws Error for another regular expression.
  explicit TextPattern(const JsonPart& part);

  /// The ranges of a text that it matches, from left to right; none of them is empty.
  std::vector<TextRange> find(std::string_view text) const;

 private:
  std::string text_;        ///< to be found; empty: runs of spaces are
  std::size_t least_ = 1;   ///< characters of a run
  bool any_space_ = false;  ///< a run is of any characters with the property White_Space
};

}  // namespace fuselage
