#pragma once

#include <string>
#include <vector>

#include "fuselage/models/text_format.h"
#include "models/huggingface/config_files.h"

namespace fuselage {

/// The files by which a directory of Transformers splits text, and how it uses them.
struct TextFiles {
  std::vector<std::string> vocabularies, splitters;  ///< as Model has them
  TextFormat format;
  std::vector<std::string> notes;
};

/// Finds them by the class of the tokenizer and the files that are there: tokenizer.json, or
/// SentencePiece models with or without a list of words. Without any the vocabularies are empty,
/// with a note. Throws Error for files that belong together and are incomplete.
TextFiles find_text_files(const HuggingFaceConfig& config);

}  // namespace fuselage
