#pragma once

#include <string>

#include "backends/cpu/runtime/kernel.h"
#include "backends/cpu/weights/pack.h"

namespace fuselage::cpu {

// The operands of products with a matrix: how kernels read the matrix, and which they refuse.

/// How the product of x and w reads a packed w: as the type of w, but f32 for f16, and where w is
/// quantized and x is not.
MatrixShape packed_shape(const Graph& graph, ValueId x, ValueId w, bool transposed);
/// The same for the first two operands of a node with the attribute `transposed`.
MatrixShape packed_shape(const Binding& binding);

/// How a kernel packs the matrix of such a node when it runs: as it is.
MatrixShape packing_shape(const Binding& binding);

/// A matrix that is packed when the program is made.
std::string refuse_packed_matrix(const Graph& graph, const Node& node);

/// A matrix that is packed each time the kernel runs.
std::string refuse_packing_matrix(const Graph& graph, const Node& node);

}  // namespace fuselage::cpu
