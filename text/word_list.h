#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace fuselage {

/// One word of a vocabulary file.
struct WordEntry {
  WordId id = 0;
  std::string word;
};

/// Entries of a YAML or JSON mapping of words to ids, in file order; repeated words and ids are
/// still there. Every key is a text, whatever YAML would take it for. Throws Error with `name` and
/// the line or key for what is no such mapping and for ids outside 0 to 10,000,000.
std::vector<WordEntry> parse_word_mapping(std::string_view bytes, const std::string& name);

/// Entries of a file with one word a line, numbered from 0. Throws Error with `name` and the line
/// for an empty line.
std::vector<WordEntry> parse_word_lines(std::string_view bytes, const std::string& name);

}  // namespace fuselage
