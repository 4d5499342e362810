#pragma once

#include <string>
#include <vector>

namespace fuselage {

/// The words of a vocabulary of CTranslate2 by their ids: a JSON list, or a word per line. Throws
/// Error with the path for a file that cannot be read, or is no list of texts.
std::vector<std::string> read_vocabulary_words(const std::string& path);

}  // namespace fuselage
