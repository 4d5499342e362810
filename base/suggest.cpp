#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace fuselage {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestQuote = 80;

/// Insertions, deletions and replacements that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  const std::size_t cutoff = std::max<std::size_t>(1, name.size() / 3);
  std::size_t best = std::numeric_limits<std::size_t>::max();
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= cutoff && distance < best && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kLongestQuote;
  if (cut) {
    std::size_t end = kLongestQuote;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + (cut ? "…'" : "'");
}

}  // namespace fuselage
