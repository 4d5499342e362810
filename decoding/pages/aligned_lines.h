#pragma once

#include <string_view>

#include "fuselage/decoding/translator.h"
#include "text/pages/text_alignment.h"

namespace fuselage {

/// The alignment of a line with its best translation; empty if the translator gives none.
TextAlignment text_alignment(const Translator& translator, std::string_view line,
                             const Translation& translation);

/// The weights for Hypothesis::alignment, in the order of the texts, with the end symbols: what a
/// row lacks to 1 is the weight of the end symbol.
std::vector<std::vector<float>> with_end_symbols(const TextAlignment& alignment);

}  // namespace fuselage
