#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// The left operand of a product: rows of `per_row` adjacent vectors with `elements` elements of
/// 4 bytes.
struct VectorsIn {
  RowsIn x;
  Rows rows;
  std::int32_t per_row = 1;
  std::int64_t elements = 0;

  std::int64_t max_count() const { return std::int64_t{rows.max_live} * per_row; }
};

/// The result of a product: rows of `per_row` adjacent vectors with `n` elements.
struct VectorsOut {
  RowsOut out;
  std::int32_t per_row = 1;
  std::int64_t n = 0;
};

__device__ inline std::int64_t live_vectors(const VectorsIn& in) {
  return static_cast<std::int64_t>(*in.rows.live) * in.per_row;
}

/// Vector i; nullptr for a vector of zeros.
__device__ inline const float* vector_of(const VectorsIn& in, std::int64_t i) {
  const float* row = row_of(in.x, i / in.per_row);
  return row ? row + i % in.per_row * in.elements : nullptr;
}

__device__ inline float* vector_of(const VectorsOut& out, std::int64_t i) {
  return row_of(out.out, i / out.per_row) + i % out.per_row * out.n;
}

}  // namespace fuselage::cuda
