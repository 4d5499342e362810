#pragma once

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Rows that are copied or counted, and what goes from one iteration of a loop to the next, as lines
// of the kernel table.

/// Rows as they are, those of a slice, and those of several values side by side.
void run_copy(const Instruction& in, const Run& run);
void bind_slice(Instruction& in, const Binding& binding);
void run_concat(const Instruction& in, const Run& run);

/// The positions of words, and their sines.
void run_position(const Instruction& in, const Run& run);
void run_sinusoid(const Instruction& in, const Run& run);

/// What stays from one iteration of a loop to the next, and the rows of all iterations together.
void run_state(const Instruction& in, const Run& run);
void run_next(const Instruction& in, const Run& run);
void bind_collect(Instruction& in, const Binding& binding);
void run_collect(const Instruction& in, const Run& run);
void run_history(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
