#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Bytes that the file of a frequency list may have.
inline constexpr std::size_t kMaxFrequencyListBytes = std::size_t{256} << 20;

/// The words of a frequency list, the most frequent one first: a word or piece a line in that
/// order, or lines of a word and its count in any order. Throws Error with `name` and the line for
/// what is neither.
std::vector<std::string> parse_frequency_list(std::string_view bytes, const std::string& name);

}  // namespace fuselage
