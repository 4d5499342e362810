#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// A part of a text, in bytes.
struct TextSpan {
  std::size_t begin = 0, end = 0;

  std::size_t size() const { return end - begin; }
  bool empty() const { return begin == end; }
  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
  bool operator==(const TextSpan&) const = default;
};

/// The span without the white space of Unicode around it; what is no UTF-8 is no space.
TextSpan without_outer_space(std::string_view text, TextSpan span);

/// The number of bytes of the white space of Unicode at the beginning of a text: one character; 0:
/// there is none.
std::size_t space_length(std::string_view text);

}  // namespace fuselage
