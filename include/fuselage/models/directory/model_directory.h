#pragma once

#include <string>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/models/load_model.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

// A model directory: config.json, graph.ir (the text form of the graph), weights.safetensors, the
// vocabularies, the shortlist if there is one, probes.json with the probe sentences if the model
// has any, and SHA256SUMS with the digests of these files. It is self-contained: a model of any
// architecture runs without C++ code for that architecture. In the place of graph.ir, config.json
// may name an architecture and its options (architectures/architecture.h), from which the graph is
// built.

/// How to write a model directory.
struct SaveOptions {
  /// Store floating-point weights as f16, which loading widens to f32; quantized weights are kept.
  bool half = false;
};

/// Throws Error unless `directory` can be written: it does not exist, is empty, or is a model
/// directory without other files.
void expect_replaceable(const std::string& directory);

/// Throws Error for a file to copy into a model directory, as a vocabulary, that has the name of
/// another file there, or a name that SHA256SUMS cannot list.
void expect_copied_name(const std::string& path);

/// Writes `model` to `directory` atomically, replacing an existing model directory. Copies the
/// vocabularies (source and target; the same path twice for a shared one), and the model's
/// splitters and shortlist. Throws Error when a file cannot be read or written, and the errors of
/// expect_replaceable and expect_copied_name.
void save_model_directory(const Model& model, const std::vector<std::string>& vocabularies,
                          const std::string& directory, const SaveOptions& options = {});

/// Whether a directory has the configuration of a model directory.
bool is_model_directory(const std::string& directory);

/// Reads a model directory. Throws Error naming the file when something is missing, damaged or
/// unknown, when a file's digest differs from SHA256SUMS, and when the weights are not exactly the
/// parameters of the graph.
Model load_model_directory(const std::string& directory, const LoadOptions& options = {});

}  // namespace fuselage
