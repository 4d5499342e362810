#pragma once

#include "backends/cpu/kernels/kernel_table.h"

namespace fuselage::cpu {

// Quantization, as lines of the kernel table: why a kernel cannot run a node, what it reads of the
// node when it is bound, and how it runs.

/// Without a bound on sums or a scale to be fitted, vectorized.
void bind_quantize(Instruction& in, const Binding& binding);
void run_quantize(const Instruction& in, const Run& run);

/// Any quantization, a number after the other.
void run_quantize_each(const Instruction& in, const Run& run);

/// What a node may ask for besides: that rows are quantized which its kernel has just made, numbers
/// first … last - 1 of those that it computes, or all. Does nothing where no result is quantized.
void bind_quantized_results(Instruction& in, const Binding& binding);
void quantize_results(const Instruction& in, const Run& run, std::size_t first, std::size_t last);
void quantize_results(const Instruction& in, const Run& run);

/// Numbers of bf16 or f16 from those of f32 or back, all of them at once.
void run_cast(const Instruction& in, const Run& run);

void bind_dequantize(Instruction& in, const Binding& binding);
void run_dequantize(const Instruction& in, const Run& run);

}  // namespace fuselage::cpu
