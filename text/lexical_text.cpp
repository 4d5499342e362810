#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lexical_table.h"
#include "text/split.h"

namespace fuselage {
namespace {

/// Ids by word; the keys refer to the vocabulary's words.
class WordIndex {
 public:
  explicit WordIndex(const Vocabulary& vocabulary) : unknown_(vocabulary.unknown_id()) {
    for (WordId id = 0; id < vocabulary.size(); ++id)
      if (const std::string_view word = vocabulary.word(id); !word.empty()) ids_.emplace(word, id);
  }

  WordId find(std::string_view word) const {
    const auto found = ids_.find(word);
    return found == ids_.end() ? unknown_ : found->second;
  }

 private:
  std::unordered_map<std::string_view, WordId> ids_;
  WordId unknown_;
};

struct Entry {
  WordId source = 0, target = 0;
  double probability = 0;
};

double parse_probability(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value))
    throw Error(
        fmt::format("{}: {} is no probability; a line is a target word, a source word and a number",
                    where, in_quotes(text)));
  return value;
}

std::array<std::string_view, 3> split_line(std::string_view line, const std::string& where) {
  std::array<std::string_view, 3> fields;
  std::size_t count = 0;
  for_each_word(line, [&](std::string_view field) {
    if (count < fields.size()) fields[count] = field;
    ++count;
  });
  if (count != fields.size())
    throw Error(fmt::format("{}: {} fields; a line is a target word, a source word and a number",
                            where, count));
  return fields;
}

std::vector<Entry> parse_entries(std::string_view bytes, const std::string& name,
                                 const LexicalSides& sides) {
  const WordIndex source(sides.source);
  const WordIndex target(sides.target);
  std::vector<Entry> entries;
  std::string line;
  for (std::size_t number = 1; !bytes.empty(); ++number) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    line = without_carriage_return(bytes.substr(0, end));
    std::replace(line.begin(), line.end(), '\t', ' ');
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    const std::string where = fmt::format("{}:{}", name, number);
    const auto [to, from, probability] = split_line(line, where);
    const double value = parse_probability(probability, where);
    if (to != "NULL" && from != "NULL")
      entries.push_back({source.find(from), target.find(to), value});
  }
  return entries;
}

/// Keeps only the last entry for each pair of words.
void remove_repeated(std::vector<Entry>& entries) {
  const auto words = [](const Entry& entry) { return std::tie(entry.source, entry.target); };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const Entry& a, const Entry& b) { return words(a) < words(b); });
  // unique keeps the first of equal entries, and backwards the last.
  const auto kept =
      std::unique(entries.rbegin(), entries.rend(),
                  [&](const Entry& a, const Entry& b) { return words(a) == words(b); });
  entries.erase(entries.begin(), kept.base());
}

}  // namespace

std::span<const WordId> LexicalTable::of(WordId source) const {
  const auto at = static_cast<std::size_t>(source);
  if (source < 0 || at + 1 >= begin.size()) return {};
  return {words.data() + begin[at], words.data() + begin[at + 1]};
}

LexicalTable parse_lexical_text(std::string_view bytes, const std::string& name,
                                const LexicalSides& sides, const LexicalLimits& limits) {
  std::vector<Entry> entries = parse_entries(bytes, name, sides);
  if (entries.empty())
    throw Error(fmt::format("{}: there is no translation of a word in it", name));
  remove_repeated(entries);
  // By descending probability; Marian puts the higher id first among equals.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.source, b.probability, b.target) <
           std::tie(b.source, a.probability, a.target);
  });
  LexicalTable table{.first = limits.first};
  for (const Entry& entry : entries) {
    while (table.begin.size() <= static_cast<std::size_t>(entry.source))
      table.begin.push_back(table.words.size());
    const std::size_t count = table.words.size() - table.begin.back();
    if (count < static_cast<std::uint64_t>(limits.best) && entry.probability > limits.threshold)
      table.words.push_back(entry.target);
  }
  table.begin.push_back(table.words.size());
  return table;
}

}  // namespace fuselage
