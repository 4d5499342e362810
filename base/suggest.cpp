#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kMaxName = 64;
constexpr std::size_t kMinPart = 3;
constexpr std::size_t kMaxQuote = 80;

/// The minimum number of insertions, deletions and replacements that turn `a` into `b`.
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

/// The candidate at the smallest edit distance, at most one edit per three characters; "" if none.
std::string_view near(std::string_view name, std::span<const std::string_view> candidates) {
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
  return nearest;
}

/// The shortest candidate that begins with `part` or, if none does, contains it; "" if none.
std::string_view shortest_with(std::string_view part,
                               std::span<const std::string_view> candidates) {
  std::string_view begins, has;
  const auto take = [](std::string_view candidate, std::string_view& shortest) {
    if (shortest.empty() || candidate.size() < shortest.size()) shortest = candidate;
  };
  for (const std::string_view candidate : candidates) {
    if (candidate.starts_with(part)) take(candidate, begins);
    if (candidate.find(part) != std::string_view::npos) take(candidate, has);
  }
  return begins.empty() ? has : begins;
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kMaxName) return "";
  std::string_view nearest = near(name, candidates);
  // Users often type the beginning of a name or one of its words.
  if (nearest.empty() && name.size() >= kMinPart) nearest = shortest_with(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", in_quotes(nearest));
}

std::size_t find_name(std::string_view kind, std::string_view name,
                      std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string suggestion = did_you_mean(name, names);
  throw Error(fmt::format("there is no {} {}{} can be {}", kind, in_quotes(name),
                          suggestion.empty() ? "; it" : suggestion + " It",
                          fmt::join(names, ", ")));
}

std::string in_quotes(std::string_view text) {
  const bool cut = text.size() > kMaxQuote;
  if (cut) {
    std::size_t end = kMaxQuote;
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
