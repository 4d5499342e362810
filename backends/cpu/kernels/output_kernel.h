#pragma once

#include "backends/cpu/runtime/instruction.h"

namespace fuselage::cpu {

struct Binding;  // kernel_rows.h

// The output layer as a line of the kernel table.
void bind_output_layer(Instruction& in, const Binding& binding);
void run_output_layer(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
