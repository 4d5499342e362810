#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/span_plan.h"

namespace fuselage::cuda {

/// The tile of a block: rows() x 128 logits, by tensor cores. Each thread then ranks the logits of
/// one of its warp's 32 rows.
struct FusedShape {
  std::int32_t warps_in_rows = 0;     ///< of 32 rows each
  std::int32_t warps_in_columns = 0;  ///< of 128 / warps_in_columns columns each
  std::size_t shared_bytes = 0;

  std::int32_t rows() const { return 32 * warps_in_rows; }
  std::int32_t threads() const { return 32 * warps_in_rows * warps_in_columns; }
};

inline constexpr std::int32_t kFusedColumns = 128;

/// The depth of a slab in shared memory, in numbers along k, and the slabs of columns in the
/// pipeline of copies.
inline constexpr std::int32_t kFusedSlab = 32;
inline constexpr std::int32_t kFusedStages = 3;

/// Logits of a row that go from registers to their thread at a time, through shared memory, and the
/// stride of a row there, in floats, against bank conflicts.
inline constexpr std::int32_t kFusedPart = 16;
inline constexpr std::int32_t kFusedStagedStride = 20;

/// The shape for rows of `stride` numbers and the k best; nullopt if the rows do not fit in shared
/// memory. The shape, and so the bits of a row, do not depend on the number of rows.
std::optional<FusedShape> fused_shape(std::int64_t stride, std::int32_t k);

/// The blocks that share the columns of a tile of rows on a device.
SpanPlan fused_plan(const FusedShape& shape, std::int64_t rows, std::int64_t columns,
                    std::int32_t k, int multiprocessors);

/// The number of blocks that share the columns of a tile of rows, on the current device.
std::int32_t fused_spans(const FusedShape& shape, std::int64_t rows, std::int64_t columns,
                         std::int32_t k);

/// Workspace of a launch with query.rows.max_live = rows. Not monotonic: fewer rows may need more.
std::size_t fused_output_bytes(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k);

/// Internal error for a workspace that is too small.
void check_fused_output(const BestQuery& query, const DeviceMatrix& matrix,
                        const Workspace& workspace);

/// The k best columns of x W + bias, by logits or log-softmax, without logits in memory. W and
/// x [query.rows.max_live, matrix.stride] are of bf16 or f16; x is padded with zeros to the stride.
/// `bias` may be null. fused_shape() must have a value.
void fused_output(cudaStream_t stream, const BestQuery& query, const void* x,
                  const DeviceMatrix& matrix, const float* bias, const Workspace& workspace);

}  // namespace fuselage::cuda
