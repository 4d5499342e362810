#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/words/word_list.h"

namespace fuselage {

/// Reads a YAML mapping whose lines all are `word: id`, as in nearly all vocabularies, many times
/// faster than a YAML parser. A word is plain or in quotes, without blanks and control characters;
/// the only escapes are \" and \\. Returns the entries in file order, or nothing if a line has
/// another form or an id above `largest_id`: then only a YAML parser knows what the text means.
std::optional<std::vector<WordEntry>> parse_flat_mapping(std::string_view text, WordId largest_id);

}  // namespace fuselage
