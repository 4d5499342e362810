#pragma once

#include <cstddef>

namespace fuselage {

// Bounds of model files that several readers share; docs/limits.md lists all.

/// Maximum number of tensors in a file.
inline constexpr std::size_t kMaxTensors = 65'536;

/// Weights hardly compress. What a compressed file expands to may take at most kMaxModelExpansion
/// times its bytes, plus kAlwaysExpanded.
inline constexpr std::size_t kMaxModelExpansion = 16;
inline constexpr std::size_t kAlwaysExpanded = std::size_t{16} << 20;

}  // namespace fuselage
