#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace fuselage {

/// What a full stop behind a word says.
enum class FullStop : std::uint8_t {
  ends,           ///< the word is no abbreviation
  never_ends,     ///< something always follows: "Mr.", "z.B."
  before_number,  ///< the sentence goes on if a number follows: "No.", "S."
  may_end,        ///< it ends only if the next word is a usual first word: "Inc.", "U.S."
};

/// The abbreviations of a language: the suppressions of CLDR, and lists of our own. Immutable, so
/// threads may share it.
class Abbreviations {
 public:
  /// `language` is an ISO 639-1 code; one without lists has no abbreviations but letters.
  explicit Abbreviations(std::string_view language);

  /// `word` is the text before a full stop, with the full stops inside it: "z.B", "Mr".
  FullStop kind(std::string_view word) const;

  /// Whether sentences often begin with the word, in its spelling.
  bool begins_sentences(std::string_view word) const { return first_words_.contains(word); }

  /// Whether a full stop makes ordinal numbers: "3. Oktober".
  bool has_ordinals() const { return ordinals_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  void add(std::string_view words, FullStop kind);
  void add_cldr(std::string_view language, std::string_view ordinary_words);

  std::unordered_map<std::string, FullStop, Hash, std::equal_to<>> kinds_;
  std::unordered_set<std::string, Hash, std::equal_to<>> first_words_;
  bool ordinals_ = false;
};

}  // namespace fuselage
