#pragma once

#include <optional>
#include <string>

#include "fuselage/models/load_model.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// Whether the text of a YAML file describes a model by its architecture ("type"), and is not a
/// configuration of a decoder, which names models.
bool is_model_configuration(const std::string& text);

/// The model of a YAML file: "type", the options of that architecture, "weights", a safetensors
/// file with the parameters by name, and "vocabs"; paths are relative to the file. With
/// LoadOptions::random_weights its weights are random. Throws Error naming the file for unknown
/// options, and for a file without weights unless they are random.
Model load_model_configuration(const std::string& path, const LoadOptions& options);

/// The same for the text of the file `path`.
Model parse_model_configuration(const std::string& text, const std::string& path,
                                const LoadOptions& options);

}  // namespace fuselage
