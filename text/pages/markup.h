#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/pages/text_alignment.h"
#include "text/text_span.h"

namespace fuselage {

/// Something in a text that is no part of it, as a tag.
struct Markup {
  enum class Kind : std::uint8_t { opening, closing, point };
  /// What is beside it in the text: white space, or the end of the text; a letter or digit of a
  /// word, or of a script without spaces between words; a sign.
  enum class Beside : std::uint8_t { space, letter, unspaced_letter, sign };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Kind kind = Kind::point;
  std::size_t at = 0;           ///< place in the text, in bytes
  TextSpan source = {};         ///< place in the document
  std::size_t partner = kNone;  ///< index of the other tag of an element
  Beside before = Beside::space, behind = Beside::space;
  bool is_word = false;  ///< of a point: it is read as a word by itself
};

/// What is beside markup at the end of a text, and at its beginning.
Markup::Beside beside_end(std::string_view text);
Markup::Beside beside_beginning(std::string_view text);

/// A place of markup in a translation.
struct PlacedMarkup {
  std::size_t markup = 0;                           ///< its index
  std::size_t at = 0;                               ///< in bytes
  bool space_before = false, space_behind = false;  ///< spaces to add
};

/// Places for all markup of a sentence in its translation, each once, in the order of the result.
/// An element keeps its words together: it takes the run of words of the translation with the
/// largest weight of its words, less that of other words. Elements stay within one another. Without
/// an alignment the words of the translation count as aligned with those at the same part of the
/// sentence. `markup` is in ascending order of places; partners are within it.
std::vector<PlacedMarkup> placed_markup(std::span<const Markup> markup, std::string_view sentence,
                                        std::string_view translation,
                                        const TextAlignment& alignment);

}  // namespace fuselage
