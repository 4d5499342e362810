#pragma once

#include <string>

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Products with a matrix, as lines of the kernel table: why a kernel cannot run a node, what it
// reads of the node when it is bound, and how it runs.

/// The type that the matrix of a product of these types is packed as: its own, but f32 for f16, and
/// where it is quantized and the rows are not.
DType packed_type(const Type& x, const Type& w);
/// The same of a node's first two operands.
DType packed_type(const Graph& graph, const Node& node);

/// A stored matrix, packed when the plan is made.
std::string refuse_gemm(const Graph& graph, const Node& node);
void bind_gemm(Instruction& in, const Binding& binding);
void run_gemm(const Instruction& in, const Run& run);

void run_row_dot(const Instruction& in, const Run& run);

/// A computed matrix. Only a load program has those, and it runs once.
std::string refuse_packing_gemm(const Graph& graph, const Node& node);
void bind_packing_gemm(Instruction& in, const Binding& binding);
void run_packing_gemm(const Instruction& in, const Run& run);

/// The rows of a vocabulary that a table is made of.
void run_leading_rows(const Instruction& in, const Run& run);

/// Looked-up rows, of which a table has the products of the most frequent ones.
std::string refuse_lookup_gemm(const Graph& graph, const Node& node);
void bind_lookup_gemm(Instruction& in, const Binding& binding);
void run_lookup_gemm(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
