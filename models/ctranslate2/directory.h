#pragma once

#include <string>

#include "fuselage/models/model.h"

namespace fuselage {

/// Whether a folder, which may be in a ZIP archive (base/files/archive.h), has a model.bin of
/// CTranslate2.
bool is_ctranslate2_directory(const std::string& path);

/// Loads a folder with model.bin, its vocabularies (shared_vocabulary, or source_vocabulary and
/// target_vocabulary, each .json or .txt), and config.json from binary version 6 on. The
/// SentencePiece models source.spm and target.spm split its text if they are there. Throws Error
/// with the file for one that is missing, damaged or not supported, and for a model that starts
/// with a word that its caller has to give.
Model load_ctranslate2_directory(const std::string& path);

}  // namespace fuselage
