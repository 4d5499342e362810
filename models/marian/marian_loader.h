#pragma once

#include <string>

#include "models/model.h"

namespace fuselage {

/// How to read a Marian model.
struct MarianLoadOptions {
  /// Configuration keys that are unknown or not supported are passed over instead of refused.
  bool ignore_unknown = false;
};

/// Loads a Marian model (.npz, or .bin by its extension) of type s2s, amun, nematus or transformer:
/// its configuration, its parameters, every one of which must be used, and the graph that they
/// describe. Throws Error naming the file and the cause.
Model load_marian(const std::string& path, const MarianLoadOptions& options = {});

}  // namespace fuselage
