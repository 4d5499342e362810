#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// The sizes of an output layer with a matrix [depth, columns] of bf16 or f16.
struct OutputSize {
  std::int64_t rows = 0, depth = 0, columns = 0;
  std::int32_t k = 0;
};

/// Seconds of the two ways of computing it on an H200: a product by cuBLASLt and one read of its
/// logits, or one kernel without logits in memory. From rates that were measured there
/// (output_cost.cpp); on other GPUs only their ratio is of use.
double seconds_with_logits(const OutputSize& size);
double seconds_without_logits(const OutputSize& size);

/// Whether the kernel without logits in memory is the faster one, and can compute it.
bool is_faster_without_logits(const OutputSize& size);

}  // namespace fuselage::cuda
