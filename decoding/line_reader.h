#pragma once

#include <cstddef>
#include <istream>
#include <string>

namespace fuselage {

/// Bytes that are read of a line; a LineEncoder cuts the rest off.
inline constexpr std::size_t kMaxLineBytes = 131'072;

/// Reads the next line, without its end, as std::getline does; false when there is none. Of a line
/// of more than kMaxLineBytes bytes one byte more than these is kept, so that its reader can tell,
/// and the rest is passed over in bounded memory.
bool read_line(std::istream& input, std::string& line);

}  // namespace fuselage
