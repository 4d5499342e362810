#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "fuselage/base/dtype.h"

namespace fuselage::cpu {

/// Shape and type of a product's matrix.
struct MatrixShape {
  std::int64_t k = 0, n = 0;
  bool transposed = false;  ///< stored as [n, k]
  DType dtype = DType::f32;

  bool operator==(const MatrixShape&) const = default;
};

/// Packs the matrix at `data` for the kernels of the active level, f16 as f32. Throws Error if
/// integer sums may exceed 32 bits. The matrix is made in `to`, as PackedMatrix::pack() does.
PackedMatrix pack(const std::byte* data, const MatrixShape& shape,
                  PackedMatrix::Bytes to = nullptr);

}  // namespace fuselage::cpu
