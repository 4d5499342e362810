#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/numbers/from_chars.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/shortlist/lexical_table.h"

namespace fuselage {
namespace {

/// Ids by word, in a table that is searched from a word's hash on. The words are the vocabulary's.
class WordIndex {
 public:
  explicit WordIndex(const Vocabulary& vocabulary) : unknown_(vocabulary.unknown_id()) {
    std::size_t words = 0;
    for (WordId id = 0; id < vocabulary.size(); ++id) words += vocabulary.word(id).empty() ? 0 : 1;
    // Half of the slots stay free, so that a search soon ends.
    slots_.resize(std::bit_ceil(2 * words + 1));
    for (WordId id = 0; id < vocabulary.size(); ++id) {
      const std::string_view word = vocabulary.word(id);
      const std::size_t hash = hash_of(word);
      Slot& slot = slots_[place_of(word, hash)];
      if (slot.word.empty()) slot = {word, id, tag_of(hash)};
    }
  }

  /// The id of a word that is not empty.
  WordId find(std::string_view word) const {
    const Slot& slot = slots_[place_of(word, hash_of(word))];
    return slot.word.empty() ? unknown_ : slot.id;
  }

 private:
  struct Slot {
    std::string_view word;  ///< empty: a free slot
    WordId id = 0;
    std::uint32_t tag = 0;  ///< without it, each slot on the way would have its word read
  };

  static std::size_t hash_of(std::string_view word) { return std::hash<std::string_view>()(word); }
  /// The upper half.
  static std::uint32_t tag_of(std::size_t hash) {
    return static_cast<std::uint32_t>(hash >> std::numeric_limits<std::size_t>::digits / 2);
  }

  /// The slot of the word, or the free one where it belongs.
  std::size_t place_of(std::string_view word, std::size_t hash) const {
    const auto other = [&, tag = tag_of(hash)](const Slot& slot) {
      return !slot.word.empty() && (slot.tag != tag || slot.word != word);
    };
    std::size_t at = hash & (slots_.size() - 1);
    while (other(slots_[at])) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<Slot> slots_;
  WordId unknown_;
};

struct Entry {
  WordId source = 0, target = 0;
  double probability = 0;
};

/// A line of a file, for messages.
struct Line {
  const std::string& file;
  std::size_t number = 0;

  std::string where() const { return fmt::format("{}:{}", file, number); }
};

double parse_probability(std::string_view text, const Line& line) {
  double value = 0;
  const auto [stop, error] = from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !(value >= 0) ||
      !std::isfinite(value))
    throw Error(
        fmt::format("{}: {} is no probability; a line is a target word, a source word and a number",
                    line.where(), in_quotes(text)));
  return value;
}

/// The texts between spaces and tabs.
std::array<std::string_view, 3> split_fields(std::string_view text, const Line& line) {
  std::array<std::string_view, 3> fields;
  std::size_t count = 0, begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != ' ' && text[at] != '\t') continue;
    if (at > begin && count++ < fields.size()) fields[count - 1] = text.substr(begin, at - begin);
    begin = at + 1;
  }
  if (count != fields.size())
    throw Error(fmt::format("{}: {} fields; a line is a target word, a source word and a number",
                            line.where(), count));
  return fields;
}

std::vector<Entry> parse_entries(std::string_view bytes, const std::string& name,
                                 const LexicalSides& sides) {
  const WordIndex source(sides.source);
  const WordIndex target(sides.target);
  std::vector<Entry> entries;
  // A line has three fields, and so at least 5 bytes before its end.
  constexpr std::size_t kLeastLine = 6;
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  entries.reserve(std::min(lines, bytes.size() / kLeastLine) + 1);
  for_each_line(bytes, [&](std::string_view text, std::size_t number) {
    const Line line{name, number};
    const auto [to, from, probability] = split_fields(text, line);
    const double value = parse_probability(probability, line);
    if (to != "NULL" && from != "NULL")
      entries.push_back({source.find(from), target.find(to), value});
  });
  return entries;
}

/// A translation of one source word, with its place among the entries.
struct Translation {
  WordId target = 0;
  double probability = 0;
  std::size_t place = 0;
};

/// The translations of all source words, in the order of the words and of the entries.
struct TranslationLists {
  std::vector<std::size_t> begin;  ///< offset per source word, and the end
  std::vector<Translation> translations;
};

TranslationLists by_source(const std::vector<Entry>& entries) {
  TranslationLists lists;
  for (const Entry& entry : entries) {
    const std::size_t end = static_cast<std::size_t>(entry.source) + 1;
    if (lists.begin.size() <= end) lists.begin.resize(end + 1);
    ++lists.begin[end];
  }
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  std::vector<std::size_t> next = lists.begin;
  lists.translations.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    lists.translations[next[static_cast<std::size_t>(entries[i].source)]++] = {
        entries[i].target, entries[i].probability, i};
  return lists;
}

/// Keeps only the last entry for each word.
std::span<Translation> without_repeated(std::span<Translation> list) {
  std::sort(list.begin(), list.end(), [](const Translation& a, const Translation& b) {
    return std::tie(a.target, b.place) < std::tie(b.target, a.place);
  });
  const auto end =
      std::unique(list.begin(), list.end(),
                  [](const Translation& a, const Translation& b) { return a.target == b.target; });
  return list.first(static_cast<std::size_t>(end - list.begin()));
}

}  // namespace

std::span<const WordId> LexicalTable::of(WordId source) const {
  const auto at = static_cast<std::size_t>(source);
  if (source < 0 || at + 1 >= begin.size()) return {};
  return {words.data() + begin[at], words.data() + begin[at + 1]};
}

LexicalTable parse_lexical_text(std::string_view bytes, const std::string& name,
                                const LexicalSides& sides, const LexicalLimits& limits) {
  const std::vector<Entry> entries = parse_entries(bytes, name, sides);
  if (entries.empty())
    throw Error(fmt::format("{}: there is no translation of a word in it", name));
  TranslationLists lists = by_source(entries);
  LexicalTable table{.first = limits.first};
  for (std::size_t source = 0; source + 1 < lists.begin.size(); ++source) {
    const std::span<Translation> list =
        without_repeated({lists.translations.data() + lists.begin[source],
                          lists.translations.data() + lists.begin[source + 1]});
    // By descending probability; Marian puts the higher id first among equals.
    std::sort(list.begin(), list.end(), [](const Translation& a, const Translation& b) {
      return std::tie(b.probability, b.target) < std::tie(a.probability, a.target);
    });
    for (const Translation& translation : list) {
      const std::size_t count = table.words.size() - table.begin.back();
      if (count < static_cast<std::uint64_t>(limits.best) &&
          translation.probability > limits.threshold)
        table.words.push_back(translation.target);
    }
    table.begin.push_back(table.words.size());
  }
  return table;
}

}  // namespace fuselage
