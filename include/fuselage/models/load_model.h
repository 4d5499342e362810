#pragma once

#include <string>

#include "fuselage/base/api.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// How to read a model of any format.
struct LoadOptions {
  /// Ignore unknown or unsupported configuration keys instead of throwing Error.
  bool ignore_unknown = false;
  /// Compare the files of a model directory with the digests in its SHA256SUMS. Without that file
  /// nothing is checked, and a note of the model says so.
  bool verify = true;
};

/// Loads the model at `path`: a model directory; a Marian model (.npz or .bin); or a configuration
/// of marian-decoder (.yml or .yaml), which gives a model, or an ensemble, with its vocabularies,
/// shortlist and settings for decoding. Throws Error naming the file and the cause, among them an
/// unsupported format and parameters that are not finite.
Model load_model(const std::string& path, const LoadOptions& options = {});

}  // namespace fuselage
