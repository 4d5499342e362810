#pragma once

#include <map>
#include <string>

#include "models/model.h"

namespace fuselage {

/// A model and the defaults for decoding with it.
struct LoadedModel {
  Model model;
  /// Values of options, as texts by the option's long name; empty when the model brings none. Of
  /// a Marian model with integers it is their precision.
  std::map<std::string, std::string> decode_options;
};

/// How to read a model, whatever its format.
struct LoadOptions {
  /// Configuration keys that are unknown or not supported are passed over instead of refused.
  bool ignore_unknown = false;
  /// The files of a model directory must have the digests that its SHA256SUMS lists. Without such a
  /// file nothing is checked, which the model's notes tell.
  bool verify = true;
};

/// Loads a model by what `path` is: a model directory, or a Marian model (.npz or .bin). Throws
/// Error naming the file and the cause; formats that are known but not supported are refused by
/// name, and so are parameters that are not finite.
LoadedModel load_model(const std::string& path, const LoadOptions& options = {});

}  // namespace fuselage
