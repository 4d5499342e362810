#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/word_entry.h"

namespace fuselage {

/// The texts of a model's tokens by their ids, and the ids by their texts.
class PieceTable {
 public:
  PieceTable() = default;

  /// Of an id that occurs twice both texts have it, and of a text that occurs twice the last id.
  explicit PieceTable(std::vector<WordEntry> entries);

  std::optional<WordId> find(std::string_view text) const;

  /// "" for an id without a text.
  std::string_view text(WordId id) const;

  /// In the order of ids.
  const std::vector<WordEntry>& entries() const { return entries_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::vector<WordEntry> entries_;  ///< by id
  std::unordered_map<std::string_view, WordId, Hash, std::equal_to<>> ids_;
};

}  // namespace fuselage
