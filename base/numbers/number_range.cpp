#include "base/numbers/number_range.h"

#include <fmt/format.h>

#include <cmath>
#include <system_error>

#include "base/numbers/from_chars.h"

namespace fuselage {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool NumberRange::contains(double value) const {
  return value >= least && value <= most && !(above && value == least) &&
         !(whole && value != std::floor(value));
}

std::string NumberRange::description() const {
  return fmt::format("a {}number {} {} {} {}", whole ? "whole " : "", above ? "above" : "from",
                     least, above ? "and up to" : "to", most);
}

std::optional<double> parse_number_in(const NumberRange& range, std::string_view text) {
  if (range.whole && text.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  const std::optional<double> value = parse_number(text);
  return value && range.contains(*value) ? value : std::nullopt;
}

}  // namespace fuselage
