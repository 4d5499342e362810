#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers/number_range.h"

namespace fuselage {

/// Accepts the numbers of a range. Errors name the range and the value.
CLI::Validator number_in(NumberRange range);

/// For the error of a value that an option cannot take: where to give a text, if `value` is a file,
/// and the command takes texts; else "". Options with several values, or an optional one, take all
/// arguments that follow.
std::string hint_of_text(const CLI::App& app, const std::string& value);

/// Accepts these words. Errors name the words and the nearest one.
CLI::Validator one_of(std::vector<std::string> words);

/// The same for names of an enumeration's values.
CLI::Validator one_of(std::span<const std::string_view> names);

/// The range of a numeric option that several commands and configurations share.
const NumberRange& range_of(std::string_view option);

/// Accepts the numbers of that range.
CLI::Validator limits_of(std::string_view option);

/// The values of --maxi-batch-sort.
CLI::Validator sort_orders();

}  // namespace fuselage
