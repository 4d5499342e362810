#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// "; did you mean 'x'?" with the candidate nearest to `name`, else with the shortest one that
/// begins with `name` or has it within; "" when there is none.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

/// Place of `name` among `names`. Throws Error when it is not there, with the nearest name and all
/// of them: "there is no KIND 'x'; did you mean 'y'? It can be y, z".
std::size_t find_name(std::string_view kind, std::string_view name,
                      std::span<const std::string_view> names);

/// `text` in single quotes, fit for a one-line message: control characters are escaped and what
/// goes beyond 80 bytes is cut.
std::string in_quotes(std::string_view text);

}  // namespace fuselage
