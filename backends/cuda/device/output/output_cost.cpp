#include "backends/cuda/device/output/output_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/output/hopper_output.h"

namespace fuselage::cuda {
namespace {

// Measured on an H200 (driver 580, CUDA 13.0, cuBLASLt 13.1) by cuda_output_bench and ncu.
constexpr int kMultiprocessors = 132;
constexpr double kBytesPerSecond = 4.3e12;
/// A large product of bf16. Products of output layers reach three quarters of it, which is not
/// measured but fits the ratios that are.
constexpr double kRoof = 673e12;
constexpr double kFlopPerSecond = 0.75 * kRoof;
/// A product of cuBLASLt for 64 rows that reads next to nothing.
constexpr double kProductSeconds = 5e-6;
constexpr double kMergeSeconds = 5e-6;

/// A tile of multiply_and_rank in each block: 63 us for 64 rows, whose plan takes 5.1, and the
/// ratios for 1,280 rows. Of depth 512 with one block on a multiprocessor, of 256 with two.
double tile_seconds(std::int32_t k) { return 12.4e-6 * (1 + 0.06 * (k - 1)); }

/// The share of the memory's bandwidth at which logits are read and ranked: 60, 50 and 33 % at
/// k = 1, 3, 9, before candidates were ranked by counting.
double share_of_reading(std::int32_t k) { return 1 / (1.5 + 0.17 * k); }

// hopper_output() is not measured. These shares are assumed, below those that its counts allow.
constexpr double kHopperShareOfRoof = 0.6;
constexpr double kHopperShareOfBandwidth = 0.7;
/// 1,400 cycles at 1.6 GHz rank 128 rows by 128 columns, beside work on lists.
double hopper_ranking_seconds(std::int32_t k) { return 0.9e-6 * (1 + 0.1 * k); }

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
  const auto shape = fused_shape(padded_size(size.depth), size.k);
  if (!shape) return std::numeric_limits<double>::infinity();
  const SpanPlan plan = fused_plan(*shape, size.rows, size.columns, size.k, kMultiprocessors);
  return plan.tiles * tile_seconds(size.k) + kMergeSeconds;
}

double seconds_on_hopper(const OutputSize& size) {
  const std::int64_t stride = padded_size(size.depth);
  const auto shape = hopper_shape(size.rows, stride, size.k);
  if (!shape) return std::numeric_limits<double>::infinity();
  const SpanPlan plan = hopper_plan(*shape, size.rows, size.columns, size.k, kMultiprocessors);
  const std::int64_t depth = (stride + kTileDepth - 1) / kTileDepth * kTileDepth;
  const double tile_flop = 2.0 * shape->rows() * kHopperColumns * static_cast<double>(depth);
  const double multiplying = tile_flop / (kHopperShareOfRoof * kRoof / kMultiprocessors);
  const double ranking = hopper_ranking_seconds(size.k) * shape->row_tiles / 2;
  const double weights = 2.0 * static_cast<double>(size.columns) * static_cast<double>(stride);
  return std::max(plan.tiles * std::max(multiplying, ranking),
                  weights / (kHopperShareOfBandwidth * kBytesPerSecond)) +
         kProductSeconds + kMergeSeconds;
}

}  // namespace

double seconds_of(OutputWay way, const OutputSize& size) {
  switch (way) {
    case OutputWay::fused:
      return seconds_without_logits(size);
    case OutputWay::hopper:
      return seconds_on_hopper(size);
    default:
      return seconds_with_logits(size);
  }
}

bool is_measured(OutputWay way) { return way != OutputWay::hopper; }

UnmeasuredUse use_of_unmeasured() {
  const char* value = std::getenv("FUSELAGE_CUDA_UNMEASURED");
  const std::string_view use = value == nullptr ? std::string_view() : value;
  if (use == "always") return UnmeasuredUse::always;
  return use == "if_faster" ? UnmeasuredUse::if_faster : UnmeasuredUse::never;
}

OutputWay fastest_output(const OutputSize& size, UnmeasuredUse unmeasured) {
  OutputWay best = OutputWay::logits;
  for (const OutputWay way : {OutputWay::fused, OutputWay::hopper}) {
    const double seconds = seconds_of(way, size);
    if (is_measured(way) || unmeasured == UnmeasuredUse::if_faster) {
      if (seconds < seconds_of(best, size)) best = way;
    } else if (unmeasured == UnmeasuredUse::always && std::isfinite(seconds)) {
      best = way;
    }
  }
  return best;
}

}  // namespace fuselage::cuda
