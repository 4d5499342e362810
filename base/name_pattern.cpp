#include "base/name_pattern.h"

#include <cstddef>

namespace fuselage {

bool matches_pattern(std::string_view pattern, std::string_view name) {
  // Only the last `*` met ever needs to take more characters: the one before has found the earliest
  // place for what is between them.
  std::size_t star = std::string_view::npos, taken = 0;
  std::size_t p = 0, n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace fuselage
