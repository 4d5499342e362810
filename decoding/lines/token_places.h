#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/decoding/translation.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Where pieces of a text, in order, are in it. White space does not count, nor do characters at
/// the beginning that a vocabulary drops; where it has changed characters, the pieces take parts of
/// the text by their sizes.
std::vector<TokenSpan> places_of_pieces(std::string_view text,
                                        const std::vector<std::string>& pieces);

/// Where words of a vocabulary are in the text that they decode to.
std::vector<TokenSpan> places_of_words(std::string_view text, std::span<const WordId> words,
                                       const Vocabulary& vocabulary);

}  // namespace fuselage
