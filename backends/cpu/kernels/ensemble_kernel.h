#pragma once

#include <string>

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// The output layers of several models, as a line of the kernel table.

/// All matrices are stored, so that they can be packed when the plan is made.
std::string refuse_layers(const Graph& graph, const Node& node);
void bind_ensemble(Instruction& in, const Binding& binding);
void run_ensemble(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
