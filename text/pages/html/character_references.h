#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage {

/// A character reference of HTML at the beginning of a text.
struct CharacterReference {
  char32_t code = 0;       ///< 0: a name that is not known here
  std::size_t length = 0;  ///< bytes; 0: none
};

/// Reads "&name;" by the names of HTML 4, "&#N;" and "&#xN;", and without semicolon as far as HTML
/// allows; other names only with a semicolon, as unknown. `text` begins with "&".
CharacterReference character_reference(std::string_view text);

/// Appends a text as HTML: &amp; &lt; &gt; &nbsp; and all else as it is.
void append_html(std::string_view text, std::string& html);

}  // namespace fuselage
