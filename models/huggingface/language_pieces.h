#pragma once

#include <string>
#include <vector>

namespace fuselage {

/// The codes of the languages of MADLAD-400, in order: "de" for the piece <2de> of a tokenizer.json
/// or a SentencePiece model. Throws Error for a file that is neither.
std::vector<std::string> languages_of_pieces(const std::string& path);

}  // namespace fuselage
