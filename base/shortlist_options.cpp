#include "fuselage/base/shortlist_options.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "base/numbers/from_chars.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Parses the whole of `text` as a number of at least 0.
template <typename T>
T parse_limit(const std::string& text, std::string_view name) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0))
    throw Error(fmt::format("{} must be a number from 0 on, not {}", name, in_quotes(text)));
  return value;
}

}  // namespace

ShortlistOptions parse_shortlist(std::span<const std::string> values) {
  if (values.empty() || values.size() > 4)
    throw Error(
        fmt::format("a path and up to three numbers are needed, not {} values", values.size()));
  ShortlistOptions shortlist{.path = values[0]};
  if (const auto checksum = values.size() == 2 ? parse_truth(values[1]) : std::nullopt) {
    shortlist.checksum = *checksum;
    return shortlist;
  }
  LexicalLimits& limits = shortlist.limits;
  if (values.size() > 1) limits.first = parse_limit<std::int64_t>(values[1], "FIRST");
  if (values.size() > 2) limits.best = parse_limit<std::int64_t>(values[2], "BEST");
  if (values.size() > 3) limits.threshold = parse_limit<double>(values[3], "PRUNE");
  return shortlist;
}

}  // namespace fuselage
