#pragma once

#include <string>

#include "models/marian/decoder_config.h"

namespace fuselage {

/// Reads a directory of published files (published_files.h) as the configuration that it stands
/// for, with paths in the directory. A configuration in it counts; its paths may also be relative
/// to the directory where it does not say so. Without one, a .bin model has the settings of
/// Firefox. Throws Error with the path and the cause.
DecoderConfig read_published_directory(const std::string& directory, bool ignore_unknown);

}  // namespace fuselage
