#pragma once

#include <optional>
#include <string_view>

namespace fuselage {

/// The truth value that a scalar of YAML 1.1 states: true, yes, on or y; or false, no, off or n; in
/// small letters, in capitals, or with one capital at the beginning. nullopt for other text.
std::optional<bool> parse_truth(std::string_view text);

}  // namespace fuselage
