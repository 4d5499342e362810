#include "backends/cuda/device/output/output_cost.h"

#include <algorithm>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/output/fused_output.h"

namespace fuselage::cuda {
namespace {

// Measured on an H200 (driver 580, CUDA 13.0, cuBLASLt 13.1) by cuda_output_bench and ncu.
constexpr int kMultiprocessors = 132;
constexpr double kBytesPerSecond = 4.3e12;
/// A large product of bf16. Products of output layers reach three quarters of it, which is not
/// measured but fits the ratios that are.
constexpr double kFlopPerSecond = 0.75 * 673e12;
/// A product of cuBLASLt for 64 rows that reads next to nothing.
constexpr double kProductSeconds = 5e-6;
constexpr double kMergeSeconds = 5e-6;

/// A tile of multiply_and_rank in each block: 63 us for 64 rows, whose plan takes 5.1, and the
/// ratios for 1,280 rows. Of depth 512 with one block on a multiprocessor, of 256 with two.
double tile_seconds(std::int32_t k) { return 12.4e-6 * (1 + 0.06 * (k - 1)); }

/// The share of the memory's bandwidth at which logits are read and ranked: 60, 50 and 33 % at
/// k = 1, 3, 9, before candidates were ranked by counting.
double share_of_reading(std::int32_t k) { return 1 / (1.5 + 0.17 * k); }

}  // namespace

double seconds_with_logits(const OutputSize& size) {
  const double rows = static_cast<double>(size.rows), columns = static_cast<double>(size.columns);
  const double depth = static_cast<double>(size.depth);
  const double logits = 4 * rows * columns, weights = 2 * depth * columns;
  const double product =
      std::max(2 * rows * depth * columns / kFlopPerSecond, (weights + logits) / kBytesPerSecond);
  const double reading = logits / (share_of_reading(size.k) * kBytesPerSecond);
  return kProductSeconds + product + reading + kMergeSeconds;
}

double seconds_without_logits(const OutputSize& size) {
  const FusedShape shape = fused_shape(padded_size(size.depth), size.k).value();
  const FusedPlan plan = fused_plan(shape, size.rows, size.columns, size.k, kMultiprocessors);
  return plan.tiles * tile_seconds(size.k) + kMergeSeconds;
}

bool is_faster_without_logits(const OutputSize& size) {
  return fused_shape(padded_size(size.depth), size.k) &&
         seconds_without_logits(size) < seconds_with_logits(size);
}

}  // namespace fuselage::cuda
