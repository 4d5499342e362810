#pragma once

#include <string>

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Elementwise ops and chains of them, alone and behind a product, as lines of the kernel table.

/// An op alone.
void bind_unary(Instruction& in, const Binding& binding);
void run_unary(const Instruction& in, const Run& run);
void bind_binary(Instruction& in, const Binding& binding);
void run_binary(const Instruction& in, const Run& run);

/// A chain.
std::string refuse_pointwise(const Graph& graph, const Node& node);
void bind_pointwise(Instruction& in, const Binding& binding);
void run_pointwise(const Instruction& in, const Run& run);

/// A product and the chain behind it: with a matrix that is packed when the plan is made, and with
/// a computed one.
std::string refuse_linear(const Graph& graph, const Node& node);
void bind_linear(Instruction& in, const Binding& binding);
void run_linear(const Instruction& in, const Run& run);
std::string refuse_packing_linear(const Graph& graph, const Node& node);
void bind_packing_linear(Instruction& in, const Binding& binding);
void run_packing_linear(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
