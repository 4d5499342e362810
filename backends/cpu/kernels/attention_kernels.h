#pragma once

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Attention, as lines of the kernel table: as one node, in which scores, softmax and mixture follow
// one another by the kernels that single nodes use, and as those.

void run_additive_attention(const Instruction& in, const Run& run);

void bind_dot_attention(Instruction& in, const Binding& binding);
void run_dot_attention(const Instruction& in, const Run& run);

/// For both: the map along which pairs are gathered.
void bind_left(Instruction& in, const Binding& binding);

/// Scores.
void bind_head_dot(Instruction& in, const Binding& binding);
void run_head_dot(const Instruction& in, const Run& run);

/// Weights, and mixtures by them or by equal ones. The map along which pairs are gathered.
void bind_to(Instruction& in, const Binding& binding);
void run_segment_softmax(const Instruction& in, const Run& run);
void run_mix(const Instruction& in, const Run& run);
void run_mean(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
