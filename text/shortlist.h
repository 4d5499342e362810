#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/lexical_table.h"

namespace fuselage {

/// The source of a shortlist and its limits, as in marian-decoder's --shortlist.
struct ShortlistOptions {
  std::string path;      ///< a lexical table, as text or in Marian's binary form; empty: none
  LexicalLimits limits;  ///< limits for a text; the binary form contains its own
  bool checksum = true;  ///< compare the checksum of the binary form
  bool union_of_batch = false;  ///< each sentence gets the words of all sentences of its batch
};

/// Selects the words that the translation of a sentence may use. Immutable, so threads may share
/// it.
class Shortlist {
 public:
  /// `words`: number of target words that the model can produce; `shared`: source and target share
  /// a vocabulary, so that source words may occur in the translation.
  Shortlist(LexicalTable table, std::int64_t words, WordId end_id, bool shared);

  /// The words for a source text, ascending: the words that marian-decoder selects for a batch of
  /// this text alone, padded to a multiple of 8 words, and always the end symbol.
  std::vector<WordId> words_for(std::span<const WordId> source) const;

 private:
  LexicalTable table_;
  std::size_t words_;
  WordId end_id_;
  bool shared_;
};

/// Reads a table of either form. Throws Error with the path.
LexicalTable load_lexical_table(const ShortlistOptions& options, const LexicalSides& sides);

}  // namespace fuselage
