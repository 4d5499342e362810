#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/output/k_best.h"

namespace fuselage::cuda {

/// How a block multiplies: kRows x 128 logits at a time, on tensor cores. Of the 32 rows of a warp
/// each thread goes over one in the end.
struct FusedShape {
  std::int32_t warps_in_rows = 0;     ///< each has 32 rows
  std::int32_t warps_in_columns = 0;  ///< each has an equal share of the columns
  std::size_t shared_bytes = 0;

  std::int32_t rows() const { return 32 * warps_in_rows; }
  std::int32_t threads() const { return 32 * warps_in_rows * warps_in_columns; }
};

inline constexpr std::int32_t kFusedColumns = 128;

/// Terms of a product that are in shared memory in one piece, and how many such pieces of columns
/// are there or on their way.
inline constexpr std::int32_t kFusedSlab = 32;
inline constexpr std::int32_t kFusedStages = 3;

/// Logits of a row that are at a time on their way from registers to threads, and floats from row
/// to row, which the fewest of the warp's threads then want of one bank.
inline constexpr std::int32_t kFusedPart = 16;
inline constexpr std::int32_t kFusedStagedStride = 20;

/// What suits rows of `stride` numbers and the k best; nothing if the rows do not fit into shared
/// memory. It does not depend on how many rows there are, and so the bits of a row do not.
std::optional<FusedShape> fused_shape(std::int64_t stride, std::int32_t k);

/// How many blocks share the columns of as many rows as one has at a time.
std::int32_t fused_spans(const FusedShape& shape, std::int64_t rows, std::int64_t columns,
                         std::int32_t k);

/// Memory that a launch takes with query.rows.most = rows; with fewer it may be more.
std::size_t fused_output_bytes(std::int64_t rows, const DeviceMatrix& matrix, std::int32_t k);

/// Throws Error for too little memory.
void check_fused_output(const BestQuery& query, const DeviceMatrix& matrix,
                        const Workspace& workspace);

/// The k best columns of x W + bias by logits or log-softmax, whose logits are never in memory.
/// W is of bf16 or f16, and so is x [query.rows.most, matrix.stride], with zeros behind the
/// matrix's k columns. `bias` may be null. Where fused_shape() gives something.
void fused_output(cudaStream_t stream, const BestQuery& query, const void* x,
                  const DeviceMatrix& matrix, const float* bias, const Workspace& workspace);

}  // namespace fuselage::cuda
