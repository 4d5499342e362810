#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/shortlist_options.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Maximum size of the file of a table in bytes, where the address space has more.
inline constexpr std::size_t kMaxLexicalTableBytes = static_cast<std::size_t>(
    std::min<std::uint64_t>(std::uint64_t{4} << 30, std::numeric_limits<std::size_t>::max()));

/// The likely translations of each source word.
struct LexicalTable {
  /// Number of the first target words of the vocabulary that are likely in every sentence.
  std::int64_t first = 0;
  std::vector<std::uint64_t> begin = {0};  ///< offset in `words` per source word, and the end
  std::vector<WordId> words;

  /// Likely translations of a source word; empty for a word outside the table.
  std::span<const WordId> of(WordId source) const;

  /// Number of source words in the table.
  std::size_t source_words() const { return begin.size() - 1; }
};

/// The vocabularies of a table.
struct LexicalSides {
  const Vocabulary& source;
  const Vocabulary& target;
};

/// Reads lines of a target word, a source word and the probability of the target word given the
/// source word (lex.s2t of fast_align and Marian). A word without a vocabulary entry is the unknown
/// word; lines with NULL are skipped; the last line for a pair of words counts. Throws Error with
/// `name` and the line for anything else.
LexicalTable parse_lexical_text(std::string_view bytes, const std::string& name,
                                const LexicalSides& sides, const LexicalLimits& limits);

/// Whether the bytes begin as a table in Marian's binary form.
bool is_lexical_binary(std::string_view bytes);

/// The beginning of the binary form, magic number and checksum, for what follows them.
std::string lexical_binary_header(std::string_view rest);

/// Reads Marian's binary form, which contains its own limits. The checksum is compared if
/// `checksum`. Source words behind the last list have no translations. Throws Error with `name` for
/// a damaged file, and for a file with more source words than the file of the source vocabulary or
/// with other target words than the vocabulary has.
LexicalTable parse_lexical_binary(std::string_view bytes, const std::string& name,
                                  const LexicalSides& sides, bool checksum = true);

}  // namespace fuselage
