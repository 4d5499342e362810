#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "base/dtype.h"

namespace fuselage::cpu {

/// How a product reads its matrix.
struct MatrixShape {
  std::int64_t k = 0, n = 0;
  bool transposed = false;  ///< it is stored as [n, k]
  DType dtype = DType::f32;

  bool operator==(const MatrixShape&) const = default;
};

/// Packs a matrix that is stored at `data` for the kernels of the active level, f16 as f32. Throws
/// Error for integers of which products may leave 32 bits.
PackedMatrix pack(const std::byte* data, const MatrixShape& shape);

}  // namespace fuselage::cpu
