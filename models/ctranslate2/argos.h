#pragma once

#include <string>

#include "fuselage/models/model.h"

namespace fuselage {

/// Whether a path is a package of Argos Translate: a ZIP archive (.argosmodel), or what is in it, a
/// directory with metadata.json and a folder model.
bool is_argos_package(const std::string& path);

/// Loads such a package: its CTranslate2 model, with the SentencePiece model or the BPE codes that
/// split its text, and the languages of metadata.json. Throws Error with the file at fault.
Model load_argos_package(const std::string& path);

}  // namespace fuselage
