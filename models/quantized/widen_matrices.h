#pragma once

#include <functional>
#include <map>
#include <string>

#include "fuselage/models/model.h"

namespace fuselage {

/// Whether a parameter of this type is a matrix, or a table with a vector per vocabulary entry.
bool has_matrix_shape(const Graph& graph, const Type& type);

/// Whether a type is one of those that matrices are stored in instead of f32.
bool is_stored_short(DType dtype);

/// The f32 transpose of a matrix.
Tensor transposed(const Tensor& matrix);

/// Replaces matrices that a model stores as integers or in 16 bits by their numbers in f32.
/// Matrices for whose name and type `keeps` is true are unchanged. Returns the types, by name, of
/// all matrices that were stored as integers or in 16 bits, including the unchanged ones. Throws
/// Error for a matrix whose integers the model itself multiplies.
std::map<std::string, DType> widen_matrices(
    Model& model, const std::function<bool(const std::string& name, DType type)>& keeps);

}  // namespace fuselage
