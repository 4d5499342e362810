#pragma once

#include <string>

#include "fuselage/models/load_model.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// How to read a Marian model.
struct MarianLoadOptions {
  /// Ignore unknown or unsupported configuration keys instead of throwing Error.
  bool ignore_unknown = false;
  Calibration calibration = Calibration::as_stored;
};

/// Loads a Marian model (.bin by its extension, which .gz or .zst may follow, else .npz) whose type
/// is the name of an architecture (architectures/architecture.h): reads its configuration and
/// parameters and builds the graph, which must use every parameter. Throws Error naming the file
/// and the cause.
Model load_marian(const std::string& path, const MarianLoadOptions& options = {});

}  // namespace fuselage
