#pragma once

#include <string>

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// The output layer for the words of shortlists, as a line of the kernel table: of a stored matrix,
// whose columns are read where they are.

std::string refuse_columns(const Graph& graph, const Node& node);
void bind_shortlist(Instruction& in, const Binding& binding);
void run_shortlist(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
