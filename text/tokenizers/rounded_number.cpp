#include "text/tokenizers/rounded_number.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>

#include "base/numbers/from_chars.h"

namespace fuselage {
namespace {

constexpr int kLargestPower = 308;

/// 10^exponent, rounded to the nearest value.
double power_of_ten(int exponent) {
  static const auto table = [] {
    std::array<double, kLargestPower + 1> powers{};
    for (int i = 0; i <= kLargestPower; ++i) {
      const std::string text = "1e" + std::to_string(i);
      from_chars(text.data(), text.data() + text.size(), powers[static_cast<std::size_t>(i)]);
    }
    return powers;
  }();
  return table[static_cast<std::size_t>(exponent)];
}

}  // namespace

double twice_rounded(std::string_view number, double exact) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  std::uint64_t digits = 0;
  int exponent = 0;
  bool is_fraction = false, is_cut = false;
  for (; !number.empty() && number[0] != 'e' && number[0] != 'E'; number.remove_prefix(1)) {
    if (number[0] == '.') {
      is_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(number[0] - '0');
    is_cut = is_cut || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (!is_cut) digits = digits * 10 + digit;
    // A digit that is cut off counts only before the point.
    if (is_fraction != is_cut) exponent += is_cut ? 1 : -1;
  }
  if (!number.empty()) {
    number.remove_prefix(1);
    if (number.starts_with('+')) number.remove_prefix(1);
    int stated = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), stated);
    if (error != std::errc() || std::abs(stated) > kLargestPower) return exact;
    exponent += stated;
  }
  if (std::abs(exponent) > kLargestPower) return exact;
  const auto whole = static_cast<double>(digits);
  const double value =
      exponent >= 0 ? whole * power_of_ten(exponent) : whole / power_of_ten(-exponent);
  return negative ? -value : value;
}

}  // namespace fuselage
