#pragma once

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Functions of whole rows, as lines of the kernel table.

void run_softmax(const Instruction& in, const Run& run);
void run_log_softmax(const Instruction& in, const Run& run);
void run_log_sum_exp(const Instruction& in, const Run& run);

/// Normalization, by a mean and a variance or by a mean square.
void bind_epsilon(Instruction& in, const Binding& binding);
void run_layer_norm(const Instruction& in, const Run& run);
void run_rms_norm(const Instruction& in, const Run& run);

/// A sum and its normalization.
void bind_add_layer_norm(Instruction& in, const Binding& binding);
void run_add_layer_norm(const Instruction& in, const Run& run);

void run_k_best(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
