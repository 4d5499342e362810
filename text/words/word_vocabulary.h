#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace fuselage {

/// The vocabulary of text that is split at spaces, given as the bytes of its file. `extension` is
/// "yml", "yaml" or "json" for a mapping of words to ids; with any other extension the bytes have
/// one word per line, numbered from 0. `name` is used in place of the path in errors. Throws Error
/// for invalid content, repeated ids or words, ids outside 0 to 10,000,000, and a missing end or
/// unknown symbol.
///
/// In a mapping, id 0 is the end symbol if its word is Nematus's `eos` or `<EOS>`, and id 1 is the
/// unknown symbol if it has no word or the word `UNK`. Where ids 0 and 1 are `<EOS>` and `<GO>`,
/// the unknown symbol is `<UNK>` if that occurs. Otherwise the end symbol is `</s>` and the unknown
/// symbol `<unk>`. Symbols that the options state take the place of these rules.
std::unique_ptr<const Vocabulary> parse_word_vocabulary(std::string_view bytes,
                                                        std::string_view extension,
                                                        const std::string& name,
                                                        const VocabularyOptions& options = {});

}  // namespace fuselage
