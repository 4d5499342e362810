#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A piece of a text: one to translate, or one that stays as it is.
struct TextPart {
  std::string text;
  bool translated = false;
};

/// The lines of a text, without white space around them, and all that is between them. The parts
/// together are the text.
std::vector<TextPart> parts_of_text(std::string_view text);

/// The texts between the tags of HTML, without white space around them and with their character
/// references decoded (the five of XML, and numeric ones), and all that is between them.
std::vector<TextPart> parts_of_html(std::string_view html);

/// A text with the characters escaped that have a meaning in HTML.
std::string escape_html(std::string_view text);

}  // namespace fuselage
