#include "text/added_words.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr WordId kLargestAddedId = 10'000'000;

}  // namespace

std::vector<WordEntry> numbered(std::vector<WordEntry> words, WordId free) {
  for (WordEntry& word : words)
    if (word.id == -1) word.id = free++;
  return words;
}

AddedWords::AddedWords(const std::vector<WordEntry>& words, std::int64_t limit,
                       const std::string& name) {
  for (const WordEntry& entry : words) {
    if (entry.id < 0 || entry.id > kLargestAddedId)
      throw Error(fmt::format("{}: the added word {} has the id {}; ids are 0 to {}", name,
                              in_quotes(entry.word), entry.id, kLargestAddedId));
    if (entry.word.empty())
      throw Error(fmt::format("{}: the added word of id {} has no text", name, entry.id));
    if (limit > 0 && entry.id >= limit) continue;
    if (!texts_.emplace(entry.id, entry.word).second)
      throw Error(fmt::format("{}: id {} belongs to two added words, {} and {}", name, entry.id,
                              in_quotes(text(entry.id)), in_quotes(entry.word)));
    if (!ids_.emplace(entry.word, entry.id).second)
      throw Error(fmt::format("{}: the added word {} occurs twice", name, in_quotes(entry.word)));
  }
}

std::string_view AddedWords::text(WordId id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<WordId> AddedWords::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace fuselage
