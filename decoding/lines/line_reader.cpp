#include "decoding/lines/line_reader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fuselage/base/error.h"
#include "text/lines.h"

namespace fuselage {

bool read_line(std::istream& input, std::string& line) {
  line.clear();
  std::array<char, 4096> part;
  while (true) {
    input.getline(part.data(), part.size());
    const auto count = static_cast<std::size_t>(input.gcount());
    const bool is_whole = input.good();
    // The count of a complete line includes the line break, which is not stored.
    const std::size_t stored = is_whole ? count - 1 : count;
    line.append(part.data(), std::min(stored, kMaxLineBytes + 1 - line.size()));
    if (is_whole) return true;
    if (input.bad()) return false;
    if (input.eof() || count == 0) return count > 0 || !line.empty();
    input.clear();  // the line continues after this part
  }
}

LineSource lines_of(std::istream& input) {
  return [&input, is_first = true](std::string& line) mutable {
    if (read_line(input, line)) {
      if (std::exchange(is_first, false)) drop_byte_order_mark(line);
      return true;
    }
    if (input.bad()) throw Error("cannot read the input: the system reports an error");
    return false;
  };
}

LineSource lines_of(const std::vector<std::string>& lines) {
  return [&lines, at = std::size_t{0}](std::string& line) mutable {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
}

}  // namespace fuselage
