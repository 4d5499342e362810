#pragma once

#include <map>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// A model and its defaults for decoding.
struct LoadedModel {
  Model model;
  /// Values of options, as text, by the option's long name; empty when the model has none. A Marian
  /// model with integers has the default for `precision` that matches them.
  std::map<std::string, std::string> decode_options;
};

/// How to read a model of any format.
struct LoadOptions {
  /// Ignore unknown or unsupported configuration keys instead of throwing Error.
  bool ignore_unknown = false;
  /// Compare the files of a model directory with the digests in its SHA256SUMS. Without that file
  /// nothing is checked, and a note of the model says so.
  bool verify = true;
};

/// Loads the model at `path`: a model directory, or a Marian model (.npz or .bin). Throws Error
/// naming the file and the cause, among them an unsupported format and parameters that are not
/// finite.
LoadedModel load_model(const std::string& path, const LoadOptions& options = {});

}  // namespace fuselage
