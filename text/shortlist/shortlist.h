#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fuselage/base/shortlist_options.h"
#include "text/shortlist/lexical_table.h"

namespace fuselage {

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
