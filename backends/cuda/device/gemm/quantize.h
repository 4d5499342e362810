#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"
#include "base/quantized.h"

namespace fuselage::cuda {

/// Vectors that lie in rows side by side.
struct RowVectors {
  Rows rows;
  std::int64_t in_a_row = 1;
  std::int64_t k = 0;  ///< elements of a vector
};

/// Each vector as integers of qint8 or qint16 (base/quantized.h), to the last bit as
/// quantize_vector() gives them. `scale`, in device memory, is that of all vectors; where it is
/// null or not positive, each has its own. The quantizer bounds no sums.
void quantize_rows(cudaStream_t stream, const Quantizer& quantizer, const float* scale,
                   const RowsIn& x, const RowVectors& vectors, const RowsOut& out);

/// The numbers that quantized vectors stand for.
void dequantize_rows(cudaStream_t stream, DType from, const RowsIn& x, const RowVectors& vectors,
                     const RowsOut& out);

/// The nearest numbers of a shorter type, ties to even, and back: from f32 to bf16, f16 or itself,
/// and from these to f32. Rows of `columns` numbers lie without gaps, those of x from row *x_first
/// on and those of out from *out_first on, where these are not null.
struct Cast {
  DType from = DType::f32, to = DType::f32;
  const void* x = nullptr;
  const std::int32_t* x_first = nullptr;
  void* out = nullptr;
  const std::int32_t* out_first = nullptr;
};
void cast_rows(cudaStream_t stream, const Cast& cast, const Rows& rows, std::int64_t columns);

}  // namespace fuselage::cuda
