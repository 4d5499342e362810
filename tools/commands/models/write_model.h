#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/models/directory/model_directory.h"
#include "tools/options/named_models.h"
#include "tools/options/probe_options.h"

namespace fuselage {

/// Writes a loaded model as a model directory, under the name of the directory, and prints notes.
/// `vocabularies`, if any, replace the model's, and `decode` its defaults for decoding. `change` is
/// applied before writing, after the check that vocabularies match the model and after its probes
/// have been made. Throws Error for vocabularies that do not match or that have the name of a file
/// of a model directory, for given probe sentences that cannot be translated, and when something
/// cannot be written.
void write_model(NamedModel loaded, const std::vector<std::string>& vocabularies,
                 std::string directory, DecodeDefaults decode, const SaveOptions& save,
                 const ProbeOptions& probes,
                 const std::function<void(Model&, VocabularyPair&)>& change);

}  // namespace fuselage
