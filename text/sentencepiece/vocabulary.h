#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace fuselage {

/// The vocabulary of a SentencePiece model, given as the bytes of its .spm file; `name` is used in
/// place of the path in errors. Throws Error for an invalid model and for a model without an end or
/// unknown symbol.
std::unique_ptr<const Vocabulary> parse_sentencepiece_vocabulary(
    std::string_view bytes, const std::string& name, const VocabularyOptions& options = {});

}  // namespace fuselage
