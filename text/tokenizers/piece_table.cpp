#include "text/tokenizers/piece_table.h"

#include <algorithm>
#include <utility>

namespace fuselage {

PieceTable::PieceTable(std::vector<WordEntry> entries) : entries_(std::move(entries)) {
  const auto before = [](const WordEntry& a, const WordEntry& b) { return a.id < b.id; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), before))
    std::stable_sort(entries_.begin(), entries_.end(), before);
  ids_.reserve(entries_.size());
  for (const WordEntry& entry : entries_) ids_.insert_or_assign(entry.word, entry.id);
}

std::optional<WordId> PieceTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::string_view PieceTable::text(WordId id) const {
  // Without gaps, the index of an entry is its id.
  const auto place = static_cast<std::size_t>(id);
  if (id >= 0 && place < entries_.size() && entries_[place].id == id) return entries_[place].word;
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), id,
                       [](const WordEntry& entry, WordId wanted) { return entry.id < wanted; });
  return found != entries_.end() && found->id == id ? std::string_view(found->word)
                                                    : std::string_view();
}

}  // namespace fuselage
