#pragma once

#include <string_view>
#include <vector>

namespace fuselage {

/// Whether the text begins with a letter or digit of a script that puts spaces between words, so
/// that it may go on with a word before it. Not so: punctuation, and the scripts of East and
/// Southeast Asia that have no spaces.
bool begins_with_letter(std::string_view text);

/// The tokens of a text of valid UTF-8: runs of letters and digits, and every other character but
/// spaces. They are views of `text`.
std::vector<std::string_view> word_tokens(std::string_view text);

}  // namespace fuselage
