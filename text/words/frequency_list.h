#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Maximum size of a frequency list in bytes.
inline constexpr std::size_t kMaxFrequencyListBytes = std::size_t{256} << 20;

/// The words of a frequency list, the most frequent first. The list has a word or piece per line in
/// that order, or a word and its count per line in any order. Throws Error with `name` and the line
/// for any other form.
std::vector<std::string> parse_frequency_list(std::string_view bytes, const std::string& name);

}  // namespace fuselage
