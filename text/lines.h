#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/split.h"

namespace fuselage {

/// The byte order mark U+FEFF in UTF-8, with which some programs begin their text files.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// `text` without a byte order mark at its beginning.
inline std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
}

/// Removes it from the first line of a text.
inline void drop_byte_order_mark(std::string& line) {
  line.erase(0, line.size() - without_byte_order_mark(line).size());
}

/// Calls `action` with each line of a file and its number from 1, without what programs that write
/// such files add: a byte order mark at the beginning, carriage returns at the ends of lines, and
/// blank lines at the end of the file.
template <typename Action>
void for_each_line(std::string_view text, Action action) {
  text = without_byte_order_mark(text);
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return;
  text = text.substr(0, text.find('\n', last));
  for (std::size_t number = 1;; ++number) {
    const std::size_t end = text.find('\n');
    action(without_carriage_return(text.substr(0, end)), number);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace fuselage
