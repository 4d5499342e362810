#include "tools/options/shortlist_options.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <vector>

#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr const char* kOption = "--shortlist";

/// Parses the whole of `text` as a number of at least 0.
template <typename T>
T parse_limit(const std::string& text, const char* what) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0))
    throw CLI::ValidationError(
        kOption, fmt::format("{} must be a number from 0 on, not {}", what, in_quotes(text)));
  return value;
}

/// Values: a path, followed by FIRST BEST PRUNE for a text, or by true or false for a binary file:
/// whether to compare its checksum.
ShortlistOptions parse_shortlist(const std::vector<std::string>& values) {
  ShortlistOptions shortlist{.path = values[0]};
  if (values.size() == 2 && (values[1] == "true" || values[1] == "false")) {
    shortlist.checksum = values[1] == "true";
    return shortlist;
  }
  LexicalLimits& limits = shortlist.limits;
  if (values.size() > 1) limits.first = parse_limit<std::int64_t>(values[1], "FIRST");
  if (values.size() > 2) limits.best = parse_limit<std::int64_t>(values[2], "BEST");
  if (values.size() > 3) limits.threshold = parse_limit<double>(values[3], "PRUNE");
  return shortlist;
}

}  // namespace

void add_shortlist_options(CLI::App& app, ShortlistOptions& shortlist) {
  const auto set = [&shortlist](const std::vector<std::string>& values) {
    const bool union_of_batch = shortlist.union_of_batch;
    shortlist = parse_shortlist(values);
    shortlist.union_of_batch = union_of_batch;
  };
  app.add_option_function<std::vector<std::string>>(
         kOption, set,
         "Lexical table (lex.s2t or its binary form): each sentence is translated with the FIRST "
         "words of the vocabulary (100) and the BEST translations (100) of its own words, of a "
         "probability above PRUNE (0)")
      ->expected(1, 4)
      ->type_name("FILE [FIRST BEST PRUNE]");
  app.add_flag(
      "--shortlist-union", shortlist.union_of_batch,
      "All sentences of a batch share their shortlists, as in marian-decoder: what becomes "
      "of a sentence then depends on the others");
}

}  // namespace fuselage
