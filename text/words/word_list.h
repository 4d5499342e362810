#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/word_entry.h"

namespace fuselage {

/// Entries of a YAML or JSON mapping of words to ids, in file order, including repeated words and
/// ids. Every key is read as text, also one that YAML would read as another type. Throws Error with
/// `name` and the line or key for any other content and for ids outside 0 to 10,000,000.
std::vector<WordEntry> parse_word_mapping(std::string_view bytes, const std::string& name);

/// Whether a JSON text is a list.
bool is_word_list(std::string_view bytes);

/// Entries of a JSON list of words, numbered from 0. Throws Error with `name` and the byte or entry
/// for any other content, and for more than 10,000,000 words.
std::vector<WordEntry> parse_word_list(std::string_view bytes, const std::string& name);

/// Entries of a file with one word per line, numbered from 0. Throws Error with `name` and the line
/// for an empty line, and for more than 10,000,000 lines.
std::vector<WordEntry> parse_word_lines(std::string_view bytes, const std::string& name);

}  // namespace fuselage
