#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fuselage {

/// Parses the whole of `text` as a finite decimal number; nullopt if it is none.
std::optional<double> parse_number(std::string_view text);

/// Allowed values of a number.
struct NumberRange {
  double least = 0, most = 0;
  bool whole = true;
  bool above = false;  ///< `least` itself is excluded

  bool contains(double value) const;

  /// "a whole number from 1 to 1024", "a number above 0 and up to 1000".
  std::string description() const;
};

/// The number in `text`; nullopt unless it is one of the range. Whole numbers are digits only.
std::optional<double> parse_number_in(const NumberRange& range, std::string_view text);

}  // namespace fuselage
