#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Accuracy of sigmoid and tanh; errors are absolute.
enum class Activations : std::uint8_t {
  exact,  ///< full float accuracy
  fast,   ///< rational functions: errors up to 3e-5 and 6e-5
  table,  ///< piecewise linear by a table: errors up to 5e-4 and 1e-3
};

/// "exact", "fast", "table": the names of all kinds, in the order of the enumeration.
std::span<const std::string_view> activations_names();

std::string_view to_string(Activations activations);

/// The inverse of to_string. Throws Error for an unknown name, with the nearest one.
Activations activations_from_string(std::string_view name);

}  // namespace fuselage
