#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// Throws Error, without a file name, unless the SentencePiece library can safely apply the
/// normalization rules of a model to any text: the library checks neither the bounds nor the number
/// of rules. An empty table has no rules. Takes time linear in the bytes.
///
/// The table consists of the size of a double-array trie (Darts-clone), the trie, and the
/// NUL-terminated replacement texts that its leaves point to.
void check_charsmap(std::string_view charsmap);

/// The rules of such a table.
class Charsmap {
 public:
  /// Throws Error, without a file name, for a table that check_charsmap refuses, and for texts that
  /// are not valid UTF-8.
  explicit Charsmap(std::string_view charsmap);

  /// The text by which the shortest rule replaces the beginning of `text`; nothing if there is no
  /// such rule.
  std::optional<std::string_view> replacement(std::string_view text) const;

 private:
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace fuselage
