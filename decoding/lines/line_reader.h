#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace fuselage {

/// Maximum number of bytes of a line; a LineEncoder cuts off the rest.
inline constexpr std::size_t kMaxLineBytes = 131'072;

/// Reads the next line without its line break, as std::getline does; false at the end. A line of
/// more than kMaxLineBytes bytes is cut to kMaxLineBytes + 1 bytes, so that a caller can detect it;
/// the rest is skipped in bounded memory.
bool read_line(std::istream& input, std::string& line);

/// Reads the next line; false at the end.
using LineSource = std::function<bool(std::string& line)>;

/// The lines of a stream or a list, which must outlive the source. A byte order mark at the
/// beginning of a stream is left out. Reading from a stream throws
/// Error when the system reports an error.
LineSource lines_of(std::istream& input);
LineSource lines_of(const std::vector<std::string>& lines);

}  // namespace fuselage
