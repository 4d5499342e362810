#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/text_splitter.h"

namespace fuselage {

/// Whether the bytes begin as those of a SentencePiece model do, with a piece, and not as a text.
bool begins_sentencepiece_model(std::string_view bytes);

/// Splits text into the pieces of a SentencePiece model, as spm_encode does, and joins pieces as
/// spm_decode does. A run of characters that the model does not know is one word. `bytes` are those
/// of an .spm file; `name` is used in place of its path in errors. Throws Error for an invalid
/// model.
std::unique_ptr<const TextSplitter> parse_sentencepiece_splitter(std::string_view bytes,
                                                                 const std::string& name);

}  // namespace fuselage
