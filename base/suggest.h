#pragma once

#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// "; did you mean 'x'?" with the candidate nearest to `name`, else with the shortest one that
/// begins with `name` or has it within; "" when there is none.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

/// `text` in single quotes, fit for a one-line message: control characters are escaped and what
/// goes beyond 80 bytes is cut.
std::string in_quotes(std::string_view text);

}  // namespace fuselage
