#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/vocabulary.h"

namespace fuselage {

/// Whether a text is an object in JSON with a member `model` that is an object and a list
/// `added_tokens`, as a tokenizer.json. Looks no further than necessary: a mapping of words to ids
/// is recognized by its first entry.
bool is_tokenizer_file(std::string_view bytes);

/// The vocabulary of a tokenizer.json of the library `tokenizers` (Hugging Face), given as the
/// bytes of the file; `name` is used in place of the path in errors. It splits text as `encode` of
/// the library does without its post-processor, and joins words as `decode` does, which skips
/// special tokens. The models Unigram and BPE are known; see the steps that are known in
/// normalizers.h, pre_tokenizers.h and decoders.h. Characters are classified by Unicode 15.
///
/// The end symbol is </s> unless it is given, and the unknown symbol that of the model, or <unk>.
/// Throws Error for an invalid file, for models and steps that are not known, for ids that belong
/// to two words, and for a missing end or unknown symbol.
std::unique_ptr<const Vocabulary> parse_tokenizer_vocabulary(std::string_view bytes,
                                                             const std::string& name,
                                                             const VocabularyOptions& options = {});

}  // namespace fuselage
