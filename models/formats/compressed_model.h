#pragma once

#include <string>

namespace fuselage {

/// Whether the name of a model file says that it is compressed (.gz, .zst).
bool is_compressed_model(const std::string& path);

/// What a compressed model file expands to. Throws Error with the path for a file that cannot be
/// read or is damaged, and for one that expands beyond the bounds of models/limits.h.
std::string read_compressed_model(const std::string& path);

}  // namespace fuselage
