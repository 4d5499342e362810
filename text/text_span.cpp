#include "text/text_span.h"

#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {

std::size_t space_length(std::string_view text) {
  if (text.empty() || utf8_sequence_length(text) == 0) return 0;
  const Character character = first_character(text);
  return is_unicode_space(character.code) ? character.length : 0;
}

TextSpan without_outer_space(std::string_view text, TextSpan span) {
  // The longest space of UTF-8 has three bytes.
  constexpr std::size_t kLongestSpace = 3;
  while (const std::size_t length = space_length(span.of(text))) span.begin += length;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t length = 1; length <= kLongestSpace && length <= span.size(); ++length)
      if (space_length(text.substr(span.end - length, length)) == length) {
        span.end -= length;
        found = true;
        break;
      }
  }
  return span;
}

}  // namespace fuselage
