#pragma once

#include <string>
#include <vector>

#include "decoding/vocabulary_pair.h"
#include "models/model.h"
#include "passes/motion/frequent_rows.h"

namespace fuselage {

/// Ranks the entries of a model's vocabularies by a frequency list (see parse_frequency_list) and
/// adds the ranks to its weights; entries that are not in the list come after it, in order of id,
/// and the end symbol, which no text shows, before it. A vocabulary of both sides is ranked once.
/// Words that a vocabulary lacks are passed over, with a note. Returns the names of the weights.
/// Throws Error when the file cannot be read or parsed, or has no word of any vocabulary.
RankWeights add_word_ranks(Model& model, const VocabularyPair& vocabularies,
                           const std::string& path, std::vector<std::string>& notes);

}  // namespace fuselage
