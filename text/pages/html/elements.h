#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// The longest name of an element of HTML that is told from others.
inline constexpr std::size_t kLongestElementName = 32;

/// Classes of elements of HTML, by their names in small letters. Elements that HTML does not have
/// are in none of them: they are inline, with content.

/// An element whose tags separate sentences, as a paragraph or a line break.
bool is_block_element(std::string_view name);

/// An element without content and end tag.
bool is_void_element(std::string_view name);

/// An element whose content is no text to translate: programs, formulas, pictures, fields.
bool is_untranslated_element(std::string_view name);

/// An element that is a word of its own where it stands between letters: "<a>Home</a><a>News</a>".
bool is_word_element(std::string_view name);

/// An element whose content is text up to its end tag, in which nothing is a tag. In the first kind
/// character references stand for characters.
bool has_escapable_text(std::string_view name);
bool has_raw_text(std::string_view name);

/// An element that ends foreign content (SVG, MathML), in which it cannot be (HTML Standard,
/// 13.2.6.5).
bool ends_foreign_content(std::string_view name);

/// Whether a start tag of `next` ends an open element `name` whose end tag may be left out (HTML
/// Standard, 13.1.2.4).
bool is_ended_by(std::string_view name, std::string_view next);

}  // namespace fuselage
