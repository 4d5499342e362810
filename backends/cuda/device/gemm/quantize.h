#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cuda {

/// Rows of several vectors, side by side.
struct RowVectors {
  Rows rows;
  std::int64_t per_row = 1;
  std::int64_t k = 0;  ///< elements of a vector
};

/// Quantizes each vector to qint8 or qint16 (base/quantized.h), with the bits of quantize_vector().
/// `scale`, in device memory, or if null the quantizer's, is the scale of all vectors; if that is
/// not positive, each vector has its own. The quantizer must not bound sums.
void quantize_rows(cudaStream_t stream, const Quantizer& quantizer, const float* scale,
                   const RowsIn& x, const RowVectors& vectors, const RowsOut& out);

/// The values of quantized vectors, as floats.
void dequantize_rows(cudaStream_t stream, DType from, const RowsIn& x, const RowVectors& vectors,
                     const RowsOut& out);

/// A conversion from f32 to bf16, f16 or f32, to the nearest value, ties to even, or back to f32,
/// or from i32 to f32.
/// Rows have no gaps. Rows of x count from *x_first and rows of out from *out_first, unless null.
struct Cast {
  DType from = DType::f32, to = DType::f32;
  const void* x = nullptr;
  const std::int32_t* x_first = nullptr;
  void* out = nullptr;
  const std::int32_t* out_first = nullptr;
};
/// Converts rows of `columns` elements.
void cast_rows(cudaStream_t stream, const Cast& cast, const Rows& rows, std::int64_t columns);

}  // namespace fuselage::cuda
