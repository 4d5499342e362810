#include "text/words/frequency_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/split.h"

namespace fuselage {
namespace {

struct CountedWord {
  std::string word;
  std::optional<std::uint64_t> count;
};

std::uint64_t parse_count(std::string_view text, const std::string& where) {
  std::uint64_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || stop != text.data() + text.size())
    throw Error(fmt::format("{}: {} is no count; write a word, or a word and its count", where,
                            in_quotes(text)));
  return count;
}

CountedWord parse_line(std::string line, const std::string& where) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  std::vector<std::string_view> fields;
  for_each_word(line, [&fields](std::string_view field) { fields.push_back(field); });
  if (fields.empty() || fields.size() > 2)
    throw Error(
        fmt::format("{}: {} fields; write a word, or a word and its count", where, fields.size()));
  CountedWord entry{.word = std::string(fields[0])};
  if (fields.size() == 2) entry.count = parse_count(fields[1], where);
  return entry;
}

}  // namespace

std::vector<std::string> parse_frequency_list(std::string_view bytes, const std::string& name) {
  std::vector<CountedWord> entries;
  for_each_line(bytes, [&](std::string_view line, std::size_t number) {
    const std::string where = fmt::format("{}:{}", name, number);
    entries.push_back(parse_line(std::string(line), where));
    if (entries.back().count.has_value() != entries.front().count.has_value())
      throw Error(fmt::format("{}: some lines have a count and some have none", where));
  });
  if (entries.empty()) throw Error(fmt::format("{}: there is no word in it", name));
  std::stable_sort(entries.begin(), entries.end(),
                   [](const CountedWord& a, const CountedWord& b) { return a.count > b.count; });
  std::vector<std::string> words;
  words.reserve(entries.size());
  for (CountedWord& entry : entries) words.push_back(std::move(entry.word));
  return words;
}

}  // namespace fuselage
