#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace fuselage {

/// The vocabulary of text that is split at spaces, given as the bytes of its file. `extension` is
/// "yml", "yaml" or "json" for a mapping of words to ids; with any other the bytes hold one word a
/// line, numbered from 0. `name` stands for the path in errors. Throws Error for what breaks the
/// format, ids or words that occur twice, ids outside 0 to 10,000,000, and a missing end or
/// unknown symbol.
///
/// In a mapping, id 0 is the end symbol if it has no word, or Nematus's `eos` or `<EOS>`, and id 1
/// is the unknown symbol if it has no word or `UNK`; otherwise `</s>` and `<unk>` say which are.
std::unique_ptr<const Vocabulary> parse_word_vocabulary(std::string_view bytes,
                                                        std::string_view extension,
                                                        const std::string& name,
                                                        const VocabularyOptions& options = {});

}  // namespace fuselage
