#include "backends/cuda/device/output/hopper_output.h"

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::size_t kHopperMaxShared = 227 * 1024;
constexpr std::int32_t kMinStages = 3;  // fewer hide no latency
constexpr std::int32_t kMaxStages = 8;

std::int64_t hopper_tiles(std::int64_t columns) {
  return (columns + kHopperColumns - 1) / kHopperColumns;
}

}  // namespace

std::optional<HopperShape> hopper_shape(std::int64_t rows, std::int64_t stride, std::int32_t k) {
  const auto slabs = static_cast<std::size_t>((stride + kTileDepth - 1) / kTileDepth);
  constexpr std::size_t kVectorBytes = kTileDepth * 2;
  constexpr std::size_t kStageBytes = kHopperColumns * kVectorBytes;
  for (const std::int32_t row_tiles : {2, 1}) {
    if (row_tiles == 2 && rows <= 64) continue;
    HopperShape shape{row_tiles, 0, 0};
    const auto block_rows = static_cast<std::size_t>(shape.rows());
    // Rows, and lists of both groups; the parts are aligned to the 1024 bytes of a swizzled tile.
    const std::size_t fixed =
        slabs * block_rows * kVectorBytes +
        kHopperGroups * block_rows * static_cast<std::size_t>(k) * sizeof(Ranked) +
        (2 * kMaxStages + 1 + kHopperGroups) * sizeof(std::uint64_t) + 1024;
    if (fixed + kMinStages * kStageBytes > kHopperMaxShared) continue;
    const std::size_t stages = std::min<std::size_t>((kHopperMaxShared - fixed) / kStageBytes,
                                                     static_cast<std::size_t>(kMaxStages));
    shape.stages = static_cast<std::int32_t>(stages);
    shape.shared_bytes = fixed + stages * kStageBytes;
    return shape;
  }
  return std::nullopt;
}

SpanPlan hopper_plan(const HopperShape& shape, std::int64_t rows, std::int64_t columns,
                     std::int32_t k, int multiprocessors) {
  const std::int64_t blocks = (rows + shape.rows() - 1) / shape.rows();
  const std::int64_t tiles = hopper_tiles(columns);
  // In tiles: loading of rows, and the ranking of the last tile, which nothing hides.
  const double start = 1.5 + k / 8.0;
  return plan_spans(blocks, tiles, multiprocessors, start);
}

bool has_hopper_output() {
  return attribute_of_device(cudaDevAttrComputeCapabilityMajor) == 9 &&
         attribute_of_device(cudaDevAttrComputeCapabilityMinor) == 0;
}

std::int32_t hopper_spans(const HopperShape& shape, std::int64_t rows, std::int64_t columns,
                          std::int32_t k) {
  return hopper_plan(shape, rows, columns, k, attribute_of_device(cudaDevAttrMultiProcessorCount))
      .spans;
}

std::size_t hopper_output_bytes(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k) {
  const HopperShape shape = hopper_shape(rows, matrix.stride, k).value();
  const std::int64_t lists =
      std::int64_t{hopper_spans(shape, rows, matrix.n, k)} * kHopperGroups * k;
  return static_cast<std::size_t>(rows) *
         (static_cast<std::size_t>(hopper_tiles(matrix.n)) * sizeof(SoftmaxNormalizer) +
          static_cast<std::size_t>(lists) * sizeof(Ranked));
}

}  // namespace fuselage::cuda
