#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/load_model.h"
#include "models/model.h"

namespace fuselage {

// A model directory: config.json, graph.ir (the text form of the graph), weights.safetensors and
// the vocabularies. It is complete: whatever the graph computes runs without code that knows it.

/// What to write besides the model.
struct SaveOptions {
  /// Store weights as f16, quantized ones as they are; they are widened when they are loaded.
  bool half = false;
  /// Defaults for decoding, by the long name of the option.
  std::map<std::string, std::string> decode_options;
};

/// Writes `model` to `directory`, which is made when it does not exist, and copies the vocabularies
/// (source and target; the same path twice for a shared one) into it. Throws Error when something
/// cannot be read or written.
void save_model_directory(const Model& model, const std::vector<std::string>& vocabularies,
                          const std::string& directory, const SaveOptions& options = {});

/// Reads a model directory. Throws Error naming the file when something is missing, damaged or
/// unknown, and when the weights are not exactly the parameters of the graph.
LoadedModel load_model_directory(const std::string& directory, const LoadOptions& options = {});

}  // namespace fuselage
