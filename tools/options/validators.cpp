#include "tools/options/validators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/suggest.h"
#include "models/decode_keys.h"
#include "models/marian/decoder_config.h"

namespace fuselage {
namespace {

constexpr NumberRange kPrecomputeMemory{0, 1000000, false};

/// Description for help.
std::string describe(const NumberRange& range) {
  return fmt::format("{} {} to {}", range.above ? "above" : "from", range.least, range.most);
}

}  // namespace

const NumberRange& range_of(std::string_view option) {
  if (option == "precompute-memory") return kPrecomputeMemory;
  if (option == "weights") return kMemberWeights;
  return decode_range(option);
}

CLI::Validator number_in(NumberRange range) {
  const auto validate = [range](const std::string& text) -> std::string {
    if (parse_number_in(range, text)) return "";
    return fmt::format("{} is needed, not {}", range.description(), in_quotes(text));
  };
  return {validate, describe(range)};
}

std::string hint_of_text(const CLI::App& app, const std::string& value) {
  std::error_code error;
  if (app.get_option_no_throw("--input") == nullptr ||
      !std::filesystem::is_regular_file(value, error))
    return "";
  return fmt::format("; give a text, as {}, before the options, or with -i", in_quotes(value));
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

CLI::Validator limits_of(std::string_view option) { return number_in(range_of(option)); }

CLI::Validator sort_orders() { return one_of({"none", "src"}); }

}  // namespace fuselage
