#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/ctranslate2/configuration.h"
#include "models/ctranslate2/model_bin.h"

namespace fuselage {

/// The options of the architecture ctranslate2-transformer for a model: its attributes, and the
/// sizes that the shapes of its variables state. Throws Error with `where` for a kind of model
/// other than an encoder-decoder transformer, for attributes that are not supported, and for
/// shapes from which no sizes follow.
std::map<std::string, std::string> ctranslate2_options(
    const Ctranslate2File& file, const Ctranslate2Configuration& configuration,
    const std::string& where);

/// Whether a variable is an attribute or a setting: no weight.
bool is_ctranslate2_attribute(const std::string& name, const Ctranslate2Variable& variable);

/// The variables that are read row by row: embeddings, and the output matrix.
std::string ctranslate2_source_table(const Ctranslate2File& file);
inline constexpr const char* kCtranslate2TargetTable = "decoder/embeddings/weight";
inline constexpr const char* kCtranslate2OutputTable = "decoder/projection/weight";

}  // namespace fuselage
