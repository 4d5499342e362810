#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"

namespace fuselage {

/// Lines of random words of the vocabularies that a model reads, with a field for each; always the
/// same for the same vocabularies. Words near the beginning of a vocabulary, which are frequent in
/// most, are more likely. Symbols such as <unk> do not occur. Throws Error for a vocabulary without
/// other words.
std::vector<std::string> random_lines(const VocabularyPair& vocabularies, std::size_t count);

}  // namespace fuselage
