#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_splitter.h"

namespace fuselage {

/// Splits words into subwords by byte-pair encoding (Sennrich et al. 2016), as subword-nmt's
/// apply-bpe does, and joins them. `bytes` are a file of codes of version 0.1 or 0.2, two symbols a
/// line in the order of their merges; `name` is used in place of its path in errors. A subword
/// within a word ends with "@@".
///
/// Glossaries are regular expressions (ECMAScript) of words that stay whole, also within other
/// words, which are divided around them. Words of more than 512 bytes are not searched.
///
/// Takes time n log n in the bytes of a word. Throws Error with the line for a file of another
/// form, and for a glossary that is no regular expression or matches the empty text.
std::unique_ptr<const TextSplitter> parse_bpe(std::string_view bytes, const std::string& name,
                                              const std::vector<std::string>& glossaries = {});

}  // namespace fuselage
