#pragma once

#include <cstddef>

namespace fuselage {

// Bounds of model files that several readers share; docs/limits.md lists all.

/// Maximum number of tensors in a file.
inline constexpr std::size_t kMaxTensors = 65'536;

}  // namespace fuselage
