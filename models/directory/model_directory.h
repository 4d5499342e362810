#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/load_model.h"
#include "models/model.h"

namespace fuselage {

// A model directory: config.json, graph.ir (the text form of the graph), weights.safetensors, the
// vocabularies, and SHA256SUMS with the digests of all of them. It is complete: whatever the graph
// computes runs without code that knows it.

/// What to write besides the model.
struct SaveOptions {
  /// Store weights as f16, quantized ones as they are; they are widened when they are loaded.
  bool half = false;
  /// Defaults for decoding, by the long name of the option.
  std::map<std::string, std::string> decode_options;
};

/// Throws Error unless `directory` can be written: nothing is there, an empty directory, or a model
/// directory without other files.
void expect_replaceable(const std::string& directory);

/// Throws Error for a vocabulary whose copy would be called like another file of a model directory,
/// or whose name SHA256SUMS cannot list.
void expect_vocabulary_name(const std::string& path);

/// Writes `model` to `directory`, which appears as a whole or not at all; a model directory that
/// was there is replaced. Copies the vocabularies (source and target; the same path twice for a
/// shared one) into it. Throws Error when something cannot be read or written, and as
/// expect_replaceable and expect_vocabulary_name do.
void save_model_directory(const Model& model, const std::vector<std::string>& vocabularies,
                          const std::string& directory, const SaveOptions& options = {});

/// Reads a model directory. Throws Error naming the file when something is missing, damaged or
/// unknown, when it is not what SHA256SUMS lists, and when the weights are not exactly the
/// parameters of the graph.
LoadedModel load_model_directory(const std::string& directory, const LoadOptions& options = {});

}  // namespace fuselage
