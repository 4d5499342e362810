#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace fuselage {

/// Maximum number of bytes of a line; a LineEncoder cuts off the rest.
inline constexpr std::size_t kMaxLineBytes = 131'072;

/// Reads the next line without its line break, as std::getline does; false at the end. A line of
/// more than kMaxLineBytes bytes is cut to kMaxLineBytes + 1 bytes, so that a caller can detect it;
/// the rest is skipped in bounded memory.
bool read_line(std::istream& input, std::string& line);

}  // namespace fuselage
