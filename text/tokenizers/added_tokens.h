#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/tokenizers/aligned_text.h"
#include "text/tokenizers/normalizers.h"
#include "text/tokenizers/piece_trie.h"
#include "text/word_entry.h"

namespace fuselage {

/// A token that is found in a text before the text is split.
struct AddedToken {
  WordId id = 0;
  std::string content;
  bool single_word = false;  ///< not within a word
  bool left_strip = false;   ///< with the spaces before it
  bool right_strip = false;  ///< with the spaces behind it
  bool normalized = true;    ///< found in the normalized text, in its own normalized form
  bool special = false;      ///< has no place in a decoded text
};

/// The added tokens of a tokenizer.json.
class AddedTokens {
 public:
  /// A part of a line: a token, or normalized text between tokens.
  struct Part {
    AlignedText text;
    std::optional<WordId> token;
  };

  /// `normalizers` stay as long as this object.
  AddedTokens(std::vector<AddedToken> tokens, const TextNormalizers& normalizers);

  /// The parts of a line that are not empty.
  std::vector<Part> split(const AlignedText& line) const;

  /// In the order of the file.
  const std::vector<AddedToken>& tokens() const { return tokens_; }

  /// Whether a token of this text has no place in a decoded text.
  bool is_special(std::string_view content) const { return special_.contains(content); }

  /// The text of a token from which text is decoded, which may be normalized; null for the id of
  /// none.
  const std::string* decoded_text(WordId id) const;

 private:
  /// Appends the parts of a text by the tokens in a trie.
  void split(const AlignedText& text, const PieceTrie& trie, std::vector<Part>& parts) const;

  std::vector<AddedToken> tokens_;
  const TextNormalizers& normalizers_;
  PieceTrie plain_, normalized_;  ///< contents, with the indices of their tokens
  std::unordered_set<std::string_view> special_;
  std::unordered_map<WordId, std::string> decoded_texts_;
};

}  // namespace fuselage
