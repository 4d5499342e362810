#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// The finite number that all of `text` is, in decimal.
std::optional<double> parse_number(std::string_view text);

/// Values that a numeric option takes.
struct NumberRange {
  double least = 0, most = 0;
  bool whole = true;
  bool above = false;  ///< `least` itself is excluded
};

/// Accepts the numbers of a range. Errors name the range and the value.
CLI::Validator number_in(NumberRange range);

/// Accepts these words. Errors name them, and the nearest one.
CLI::Validator one_of(std::vector<std::string> words);

/// The same of names of an enumeration's values.
CLI::Validator one_of(std::span<const std::string_view> names);

/// The range of a numeric option that several commands and configurations have.
CLI::Validator limits_of(std::string_view option);

/// The values of --maxi-batch-sort.
CLI::Validator sort_orders();

}  // namespace fuselage
