#include "inspect/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace fuselage {

std::string print_scaled(double number, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  std::size_t at = 0;
  while (number >= 999.5 && at + 1 < kPrefixes.size()) {
    number /= 1000;
    ++at;
  }
  const bool whole = at == 0 && number == std::floor(number);
  const int digits = whole || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  const bool bare = unit.empty() && kPrefixes[at].empty();
  return fmt::format("{:.{}f}{}{}{}", number, digits, bare ? "" : " ", kPrefixes[at], unit);
}

}  // namespace fuselage
