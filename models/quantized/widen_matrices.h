#pragma once

#include <map>
#include <optional>
#include <string>

#include "models/model.h"

namespace fuselage {

/// Whether a parameter of that type is a matrix, or has a vector for each entry of a vocabulary.
bool has_matrix_shape(const Graph& graph, const Type& type);

/// The f32 transpose of a matrix.
Tensor transposed(const Tensor& matrix);

/// Puts f32 matrices in the place of those that a model stores as integers or as bf16: the numbers
/// that they stand for. `kept` is the type whose matrices stay as they are. Returns the types by
/// the names of all matrices that were stored so, those that stay among them. Throws Error for a
/// matrix whose integers the model itself multiplies.
std::map<std::string, DType> widen_matrices(Model& model, std::optional<DType> kept);

}  // namespace fuselage
