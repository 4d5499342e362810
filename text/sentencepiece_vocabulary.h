#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace fuselage {

/// The vocabulary of a SentencePiece model given as the bytes of its .spm file; `name` stands for
/// the path in errors. Throws Error when the bytes are no such model or it has no end symbol.
std::unique_ptr<const Vocabulary> parse_sentencepiece_vocabulary(
    std::string_view bytes, const std::string& name, const VocabularyOptions& options = {});

}  // namespace fuselage
