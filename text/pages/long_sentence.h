#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// The number of tokens of a text, as a model reads it.
using TokenCount = std::function<std::size_t(std::string_view)>;

/// The parts of a sentence, each of at most `max_tokens` tokens, at least 1: cut behind semicolons,
/// colons and dashes; where these are too far apart behind commas; then at white space; then
/// between grapheme clusters, of which one may have more tokens. Parts are as long as they can
/// be, unless pieces have more tokens together than one by one. All bytes between parts are white
/// space. Counts the tokens of each byte a bounded number of times.
std::vector<TextSpan> divided_sentence(std::string_view text, TextSpan sentence,
                                       std::size_t max_tokens, const TokenCount& count);

}  // namespace fuselage
