#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizers/aligned_text.h"

namespace fuselage {

/// GPT-2's way to write bytes (Radford et al. 2019): each byte is a character, those that are
/// visible in Latin-1 themselves, and the others U+0100 and up.

/// The text with such a character for each byte.
void write_bytes(AlignedText& text);

/// The bytes of a text of such characters; nothing if there is another character in it.
std::optional<std::string> written_bytes(std::string_view text);

/// The parts into which GPT-2 divides a text: contractions of English, letters, numbers and other
/// characters with a space before them, and spaces.
std::vector<TextRange> gpt2_parts(std::string_view text);

}  // namespace fuselage
