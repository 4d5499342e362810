#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizers/added_tokens.h"
#include "text/word_entry.h"

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// The pairs of pieces that a model merges, in the order of their ranks.
class MergeList {
 public:
  void add(std::string_view left, std::string_view right);

  std::size_t size() const { return lengths_.size(); }

  /// Calls `action` with the two pieces of each pair.
  template <typename Action>
  void for_each(Action action) const {
    std::string_view rest = texts_;
    for (const Lengths& length : lengths_) {
      action(rest.substr(0, length.left), rest.substr(length.left, length.right));
      rest.remove_prefix(length.left + length.right);
    }
  }

 private:
  struct Lengths {
    std::uint32_t left = 0, right = 0;
  };

  std::string texts_;
  std::vector<Lengths> lengths_;
};

/// The content of a tokenizer.json.
struct TokenizerFile {
  /// `normalizer`, `pre_tokenizer`, `decoder` and `model`, which lacks `vocab` and `merges`.
  nlohmann::json steps;
  std::vector<AddedToken> added_tokens;
  /// `vocab`: pieces, and their scores where these are given in place of ids.
  std::vector<WordEntry> pieces;
  std::vector<double> scores;
  MergeList merges;
};

/// Reads a tokenizer.json, in time linear in the bytes but for a sort. `name` is its path for
/// messages. Throws Error for invalid JSON and members of other types, ids outside 0 to 10,000,000,
/// pieces of more than 2,048 bytes, more than 10,000,000 pieces or merges, objects and lists that
/// nest deeper than 32, and more than 2,000,000 other values.
TokenizerFile read_tokenizer_file(std::string_view bytes, const std::string& name);

}  // namespace fuselage
