#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decoding/vocabulary_pair.h"
#include "models/directory/model_directory.h"
#include "tools/options/named_models.h"

namespace fuselage {

/// Writes what was loaded as a model directory that bears the directory's name, with `vocabularies`
/// in the place of the model's where there are any, and prints notes. `change` is applied first,
/// when model and vocabularies are known to fit. Throws Error for vocabularies that do not, or that
/// are called like a file of a model directory, and when something cannot be written.
void write_model(NamedModel loaded, const std::vector<std::string>& vocabularies,
                 std::string directory, SaveOptions save,
                 const std::function<void(Model&, VocabularyPair&)>& change);

}  // namespace fuselage
