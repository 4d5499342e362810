#pragma once

#include <string>

#include "backends/cpu/weights/pack.h"
#include "fuselage/backends/cpu/runtime/kernel.h"

namespace fuselage::cpu {

// Shapes and refusals of the matrix operands of products.

/// The packed form of w in the product of x and w: of the type of w, but f32 if w is f16, or if w
/// is quantized and x is not.
MatrixShape packed_shape(const Graph& graph, ValueId x, ValueId w, bool transposed);
/// The same for the first two operands of a node with the attribute `transposed`.
MatrixShape packed_shape(const Binding& binding);

/// The form in which a kernel packs the matrix of such a node at run time: its own type.
MatrixShape packing_shape(const Binding& binding);

/// Refuses a matrix that cannot be packed when the program is made.
std::string refuse_packed_matrix(const Graph& graph, const Node& node);

/// Refuses a matrix that cannot be packed at each run of the kernel.
std::string refuse_packing_matrix(const Graph& graph, const Node& node);

}  // namespace fuselage::cpu
