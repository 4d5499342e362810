#pragma once

#include <string>

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// The reference evaluation of an op, as the last line of the kernel table.

std::string refuse_reference(const Graph& graph, const Node& node);
void run_reference(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
