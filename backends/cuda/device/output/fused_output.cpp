#include "backends/cuda/device/output/fused_output.h"

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

// Shared memory of a block of compute capability 9.0: one block, or two blocks, per multiprocessor.
constexpr std::size_t kMaxShared = 227 * 1024;
constexpr std::size_t kHalfOfShared = 113 * 1024;

std::size_t shared_bytes(const FusedShape& shape, std::int64_t stride, std::int32_t k) {
  const auto slabs = static_cast<std::size_t>((stride + kFusedSlab - 1) / kFusedSlab);
  const auto rows = static_cast<std::size_t>(shape.rows());
  const auto warps = static_cast<std::size_t>(shape.threads() / kWarpSize);
  constexpr std::size_t kSlabBytes = kFusedSlab * 2;
  constexpr std::size_t kStagedBytes = kWarpSize * kFusedStagedStride * sizeof(float);
  return (slabs * rows + kFusedStages * kFusedColumns) * kSlabBytes +
         warps * (kStagedBytes + kWarpSize * static_cast<std::size_t>(k) * sizeof(Ranked));
}

std::int64_t tiles_of(std::int64_t columns) {
  return (columns + kFusedColumns - 1) / kFusedColumns;
}

}  // namespace

std::optional<FusedShape> fused_shape(std::int64_t stride, std::int32_t k) {
  struct Choice {
    std::int32_t warps_in_rows, warps_in_columns;
    std::size_t max_bytes;
  };
  // First choice: two blocks per multiprocessor, so that one can multiply while the other ranks.
  // Else one block of twice as many threads, with fewer rows if they are long.
  for (const Choice& choice :
       {Choice{4, 1, kHalfOfShared}, {4, 2, kMaxShared}, {2, 4, kMaxShared}}) {
    FusedShape shape{choice.warps_in_rows, choice.warps_in_columns, 0};
    shape.shared_bytes = shared_bytes(shape, stride, k);
    if (shape.shared_bytes <= choice.max_bytes) return shape;
  }
  return std::nullopt;
}

SpanPlan fused_plan(const FusedShape& shape, std::int64_t rows, std::int64_t columns,
                    std::int32_t k, int multiprocessors) {
  const std::int64_t blocks = (rows + shape.rows() - 1) / shape.rows();
  const std::int64_t tiles = tiles_of(columns);
  const std::int64_t at_once =
      std::int64_t{multiprocessors} * (shape.shared_bytes <= kHalfOfShared ? 2 : 1);
  // The time of a block in tiles. `start`: loading of rows and filling of lists.
  const double start = 1 + k / 8.0;
  return plan_spans(blocks, tiles, at_once, start);
}

std::int32_t fused_spans(const FusedShape& shape, std::int64_t rows, std::int64_t columns,
                         std::int32_t k) {
  return fused_plan(shape, rows, columns, k, attribute_of_device(cudaDevAttrMultiProcessorCount))
      .spans;
}

std::size_t fused_output_bytes(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k) {
  const FusedShape shape = fused_shape(matrix.stride, k).value();
  const std::int64_t sums = tiles_of(matrix.n) * shape.warps_in_columns;
  const std::int64_t lists =
      std::int64_t{fused_spans(shape, rows, matrix.n, k)} * shape.warps_in_columns * k;
  return static_cast<std::size_t>(rows) *
         (static_cast<std::size_t>(sums) * sizeof(SoftmaxNormalizer) +
          static_cast<std::size_t>(lists) * sizeof(Ranked));
}

void check_fused_output(const BestQuery& query, const DeviceMatrix& matrix,
                        const Workspace& workspace) {
  check(workspace.bytes >= fused_output_bytes(query.rows.max_live, matrix, query.k),
        "fused_output: the workspace is too small");
}

}  // namespace fuselage::cuda
