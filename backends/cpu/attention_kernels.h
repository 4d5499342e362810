#pragma once

#include "backends/cpu/kernel_rows.h"

namespace fuselage::cpu {

// Attention as one node, as lines of the kernel table: scores, softmax and mixture one after
// another, by the kernels that single nodes use.

void run_additive_attention(const Instruction& in, const Run& run);

void bind_dot_attention(Instruction& in, const Binding& binding);
void run_dot_attention(const Instruction& in, const Run& run);

/// For both: the map along which pairs are gathered.
void bind_left(Instruction& in, const Binding& binding);

}  // namespace fuselage::cpu
