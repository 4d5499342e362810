#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "text/lexical_table.h"

namespace fuselage {

/// Where a shortlist comes from and what it takes of that, as marian-decoder's --shortlist has it.
struct ShortlistOptions {
  std::string path;      ///< a lexical table, as text or in Marian's binary form; empty: none
  LexicalLimits limits;  ///< of a text; the binary form has its own
  bool checksum = true;  ///< of the binary form is compared
  bool union_of_batch = false;  ///< each sentence gets the words of all sentences of its batch
};

/// Says which words the translation of a sentence may use. Immutable, so threads may share one.
class Shortlist {
 public:
  /// `words`: how many target words the model can produce; `shared`: source and target have one
  /// vocabulary, so that a word may stay as it is.
  Shortlist(LexicalTable table, std::int64_t words, WordId end_id, bool shared);

  /// The words for a source text, ascending: those that marian-decoder takes for a batch of this
  /// text, which it fills up to a multiple of 8, and the end symbol in any case.
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
