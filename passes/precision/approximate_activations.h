#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "passes/rewrite/pass.h"

namespace fuselage {

/// How sigmoid and tanh are computed.
enum class Activations : std::uint8_t {
  exact,  ///< to the last bits
  fast,   ///< by quotients of polynomials: to within 3e-5 and 6e-5
  table,  ///< by lines between the entries of a table: to within 5e-4 and 1e-3
};

/// "exact", "fast", "table": the names of all kinds, in the order of the enumeration.
std::span<const std::string_view> activations_names();

std::string_view to_string(Activations activations);

/// The inverse of to_string. Throws Error for an unknown name, with the nearest one.
Activations activations_from_string(std::string_view name);

/// sigmoid and tanh become sigmoid_fast and tanh_fast, or sigmoid_table and tanh_table
/// (ops/approximate_activations.h). Exponentials, as of a softmax, stay as they are. With exact the
/// pass does nothing.
Pass approximate_activations(Activations activations = Activations::exact);

}  // namespace fuselage
