#include "tools/options/validators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

struct NamedRange {
  std::string_view option;
  NumberRange range;
};
constexpr NamedRange kRanges[] = {
    {"beam-size", {1, 1024}},
    {"max-length-factor", {0, 1000, false, true}},
    {"maxi-batch", {1, 1000000}},
    {"mini-batch", {1, 65536}},
    {"mini-batch-words", {0, 1000000000}},
    {"normalize", {-10, 10, false}},
    {"precompute-memory", {0, 1000000, false}},
    {"weights", {-1000000, 1000000, false}},
    {"word-penalty", {-1000000, 1000000, false}},
};

bool is_whole(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool contains(const NumberRange& range, double value) {
  return value >= range.least && value <= range.most && !(range.above && value == range.least);
}

/// Description for help.
std::string describe(const NumberRange& range) {
  return fmt::format("{} {} to {}", range.above ? "above" : "from", range.least, range.most);
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

CLI::Validator number_in(NumberRange range) {
  const auto validate = [range](const std::string& text) -> std::string {
    const std::optional<double> value = parse_number(text);
    if (value && contains(range, *value) && (!range.whole || is_whole(text))) return "";
    return fmt::format("a {}number {} {} {} {} is needed, not {}", range.whole ? "whole " : "",
                       range.above ? "above" : "from", range.least,
                       range.above ? "and up to" : "to", range.most, in_quotes(text));
  };
  return {validate, describe(range)};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto validate = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    const std::vector<std::string_view> views(words.begin(), words.end());
    return fmt::format("{} is needed, not {}{}", fmt::join(words, ", "), in_quotes(text),
                       did_you_mean(text, views));
  };
  return {validate, description};
}

CLI::Validator one_of(std::span<const std::string_view> names) {
  return one_of(std::vector<std::string>(names.begin(), names.end()));
}

CLI::Validator limits_of(std::string_view option) {
  const auto* named = std::find_if(std::begin(kRanges), std::end(kRanges),
                                   [&](const NamedRange& one) { return one.option == option; });
  check(named != std::end(kRanges), "the option has limits");
  return number_in(named->range);
}

CLI::Validator sort_orders() { return one_of({"none", "src"}); }

}  // namespace fuselage
