#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Which entries of a table in text form are used, as in marian-decoder's option.
struct LexicalLimits {
  std::int64_t first = 100;  ///< number of frequent words for every sentence
  std::int64_t best = 100;   ///< maximum number of translations of a source word
  double threshold = 0;      ///< only translations with a larger probability

  bool operator==(const LexicalLimits&) const = default;
};

/// The source of a shortlist and its limits, as in marian-decoder's option shortlist.
struct ShortlistOptions {
  std::string path = {};      ///< a lexical table, as text or in Marian's binary form; empty: none
  LexicalLimits limits = {};  ///< limits for a text; the binary form contains its own
  bool checksum = true;       ///< compare the checksum of the binary form
  bool union_of_batch = false;  ///< each sentence gets the words of all sentences of its batch
};

/// Reads the values of marian-decoder's option: a path, which FIRST BEST PRUNE may follow for a
/// text, or true or false for a binary file: whether to compare its checksum. Throws Error for
/// other values, with their name.
ShortlistOptions parse_shortlist(std::span<const std::string> values);

}  // namespace fuselage
