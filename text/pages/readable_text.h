#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// A text as a model should read it.
struct ReadableText {
  std::string text;
  std::vector<std::size_t> places;  ///< where the given places of the text are in it
};

/// The text with one space for each run of white space, and without characters that have neither
/// width nor meaning, which would split words into tokens that a model does not know: soft hyphens,
/// word joiners (U+2060), byte order marks, and zero-width spaces (U+200B) but where scripts
/// without spaces, as Thai and Khmer, have them between words. Zero-width joiners and non-joiners
/// stay. `places` are offsets in ascending order; white space at a place is before it.
ReadableText readable_text(std::string_view text, std::span<const std::size_t> places = {});

/// The span without white space and such characters around it.
TextSpan without_outer_blanks(std::string_view text, TextSpan span);

/// The span without a mark of a list, a quotation or a heading in plain text at its beginning: "-
/// ",
/// "* ", "• ", "> > ", "## ".
TextSpan without_bullets(std::string_view text, TextSpan span);

}  // namespace fuselage
