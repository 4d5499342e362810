#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// Calls `action` with each word of `line`: the non-empty texts between spaces.
template <typename Action>
void for_each_word(std::string_view line, Action action) {
  while (!line.empty()) {
    const std::size_t space = line.find(' ');
    if (space != 0) action(line.substr(0, space));
    if (space == std::string_view::npos) return;
    line.remove_prefix(space + 1);
  }
}

/// `text` without spaces around it.
inline std::string_view without_outer_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// `line` without a carriage return at its end.
inline std::string_view without_carriage_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace fuselage
