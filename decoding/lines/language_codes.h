#pragma once

#include <string>
#include <vector>

#include "fuselage/models/text_format.h"

namespace fuselage {

/// The language of a model that a user names: by its code ("deu_Latn", "de_DE"), by the beginning
/// of one code only ("deu", "de"), or by a code of ISO 639-1 where the model has those of ISO 639-3
/// ("de" for "deu_Latn"). Throws Error for another code, with the nearest ones.
const Language& find_language(const std::vector<Language>& languages, const std::string& code);

}  // namespace fuselage
