#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/span_plan.h"
#include "backends/cuda/device/runtime/tile_map.h"

namespace fuselage::cuda {

/// A tile of logits of hopper_output.cu has so many columns.
inline constexpr std::int32_t kHopperColumns = 128;

/// Warpgroups that multiply and rank, each a tile of its own.
inline constexpr std::int32_t kHopperGroups = 2;

/// A block's rows, which stay in shared memory, and the slabs of columns in its pipeline: 128
/// columns by kTileDepth numbers each.
struct HopperShape {
  std::int32_t row_tiles = 0;  ///< of 64 rows: 1 or 2
  std::int32_t stages = 0;
  std::size_t shared_bytes = 0;

  std::int32_t rows() const { return 64 * row_tiles; }
};

/// The shape for at most `rows` rows of `stride` numbers and the k best; nullopt if they do not fit
/// in shared memory. It changes no bit of a row.
std::optional<HopperShape> hopper_shape(std::int64_t rows, std::int64_t stride, std::int32_t k);

/// The blocks that share the columns of a tile of rows on a device.
SpanPlan hopper_plan(const HopperShape& shape, std::int64_t rows, std::int64_t columns,
                     std::int32_t k, int multiprocessors);

/// The number of blocks that share the columns of a tile of rows, on the current device.
std::int32_t hopper_spans(const HopperShape& shape, std::int64_t rows, std::int64_t columns,
                          std::int32_t k);

/// Whether the current device has the kernel's instructions: compute capability 9.0 alone.
bool has_hopper_output();

/// Workspace of a launch with query.rows.max_live = rows. Not monotonic: fewer rows may need more.
std::size_t hopper_output_bytes(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k);

/// The k best columns of x W + bias, as fused_output() (fused_output.h), of which x and W have the
/// layout. hopper_shape() must have a value.
void hopper_output(cudaStream_t stream, const BestQuery& query, const void* x,
                   const DeviceMatrix& matrix, const float* bias, const Workspace& workspace);

}  // namespace fuselage::cuda
