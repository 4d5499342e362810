#pragma once

#include <string>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/models/model.h"
#include "fuselage/passes/motion/frequent_rows.h"

namespace fuselage {

/// Ranks the entries of a model's vocabularies by a frequency list (see parse_frequency_list) and
/// adds the ranks to its weights. The end symbol, which is in no text, has the first rank; entries
/// that are not in the list follow the list in order of id. A shared vocabulary is ranked once.
/// Words of the list that are not in a vocabulary are skipped, with a note. Returns the names of
/// the added weights. Throws Error when the file cannot be read or parsed, or has no word of any
/// vocabulary.
RankWeights add_word_ranks(Model& model, const VocabularyPair& vocabularies,
                           const std::string& path, std::vector<std::string>& notes);

}  // namespace fuselage
