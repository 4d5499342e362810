#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// "; did you mean 'x'?" with the candidate nearest to `name`, or else the shortest candidate that
/// begins with or contains `name`; "" if there is none.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

/// The index of `name` in `names`. If it is missing, throws Error with the nearest name and all
/// names: "there is no KIND 'x'; did you mean 'y'? It can be y, z".
std::size_t find_name(std::string_view kind, std::string_view name,
                      std::span<const std::string_view> names);

/// `text` in single quotes for a one-line message: control characters are escaped, and the text is
/// truncated to 80 bytes.
std::string in_quotes(std::string_view text);

}  // namespace fuselage
