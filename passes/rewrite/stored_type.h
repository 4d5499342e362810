#pragma once

#include <optional>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// The type in which a model stores the numbers of an f32 matrix, if that is shorter: the type of
/// all parameters from which the matrix is put together, by conversion to f32, transposition,
/// slices and concatenations alone. nullopt if it is f32, or computed, or of several types.
std::optional<DType> stored_type(const Graph& graph, ValueId matrix);

}  // namespace fuselage
