#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/word_entry.h"

namespace fuselage {

/// The words with ids from `free` on, the number behind the last word of the file, in the place of
/// -1.
std::vector<WordEntry> numbered(std::vector<WordEntry> words, WordId free);

/// Words that a vocabulary has beside those of its file. A word that the file has too, with the
/// same id, is thereby a symbol.
class AddedWords {
 public:
  AddedWords() = default;

  /// Leaves out ids from `limit` on; 0: no limit. Throws Error with `name`, in place of the path of
  /// the file, for an empty text, an id outside 0 to 10,000,000, and an id or text that occurs
  /// twice.
  AddedWords(const std::vector<WordEntry>& words, std::int64_t limit, const std::string& name);

  bool empty() const { return texts_.empty(); }

  bool contains(WordId id) const { return texts_.contains(id); }

  /// "" for an id that is none of an added word; valid as long as this object.
  std::string_view text(WordId id) const;

  std::optional<WordId> find(std::string_view text) const;

  /// The highest id plus one; 0 without words.
  WordId end() const { return texts_.empty() ? 0 : texts_.rbegin()->first + 1; }

 private:
  std::map<WordId, std::string> texts_;
  std::map<std::string, WordId, std::less<>> ids_;
};

}  // namespace fuselage
