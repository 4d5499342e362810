#pragma once

#include <cstdint>

namespace fuselage::cuda {

/// The sizes of an output layer with a matrix [depth, columns] of bf16 or f16.
struct OutputSize {
  std::int64_t rows = 0, depth = 0, columns = 0;
  std::int32_t k = 0;
};

/// The ways of computing it.
enum class OutputWay : std::uint8_t {
  logits,  ///< a product by cuBLASLt and one read of its logits
  fused,   ///< fused_output(): without logits in memory
  hopper,  ///< hopper_output(): the same, on Hopper alone
};

/// Seconds of a way on an H200, from rates that were measured there, or are estimates
/// (output_cost.cpp); infinite if it cannot compute it. On other GPUs only ratios are of use.
double seconds_of(OutputWay way, const OutputSize& size);

/// Whether the way's rates were measured.
bool is_measured(OutputWay way);

/// When ways that no GPU has measured compute a layer.
enum class UnmeasuredUse : std::uint8_t {
  never,
  if_faster,  ///< by their estimates
  always,     ///< wherever they can
};

/// The use that a measurement asks for: the environment variable FUSELAGE_CUDA_UNMEASURED is
/// `if_faster` or `always`.
UnmeasuredUse use_of_unmeasured();

/// The fastest way of those that may compute the layer.
OutputWay fastest_output(const OutputSize& size, UnmeasuredUse unmeasured);

}  // namespace fuselage::cuda
