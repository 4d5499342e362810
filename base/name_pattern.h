#pragma once

#include <string_view>

namespace fuselage {

/// Whether a whole name matches a pattern, in which `*` stands for any characters, also none, and
/// `?` for one. Every other character stands for itself.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace fuselage
