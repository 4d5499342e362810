#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace fuselage {

/// Bytes that the file of a table may have.
inline constexpr std::size_t kMaxLexicalTableBytes = std::size_t{4} << 30;

/// The words that the words of a source text are likely to be translated by.
struct LexicalTable {
  /// So many target words, the first ones of the vocabulary, are likely for every sentence.
  std::int64_t first = 0;
  std::vector<std::uint64_t> begin = {0};  ///< per source word, and one past the end
  std::vector<WordId> words;

  /// Those of a source word; none for one that the table does not know.
  std::span<const WordId> of(WordId source) const;
};

/// What is taken of a table in text form, as marian-decoder's option says it.
struct LexicalLimits {
  std::int64_t first = 100;  ///< frequent words for every sentence
  std::int64_t best = 100;   ///< translations of a source word at most
  double threshold = 0;      ///< and only those of a larger probability
};

/// The vocabularies that a table is for.
struct LexicalSides {
  const Vocabulary& source;
  const Vocabulary& target;
};

/// Reads lines of a target word, a source word and the probability of the one given the other, as
/// fast_align's and Marian's lex.s2t. A word without a vocabulary entry is the unknown word; lines
/// with NULL say nothing; of lines for the same words the last one counts. Throws Error with `name`
/// and the line for anything else.
LexicalTable parse_lexical_text(std::string_view bytes, const std::string& name,
                                const LexicalSides& sides, const LexicalLimits& limits);

/// Whether the bytes begin as a table in Marian's binary form.
bool is_lexical_binary(std::string_view bytes);

/// Reads Marian's binary form, which has its own limits. Without `checksum` that one is not
/// compared. Throws Error with `name` for a damaged file, and for one that is for other
/// vocabularies.
LexicalTable parse_lexical_binary(std::string_view bytes, const std::string& name,
                                  const LexicalSides& sides, bool checksum = true);

}  // namespace fuselage
