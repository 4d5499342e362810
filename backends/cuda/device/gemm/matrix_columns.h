#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "base/tensor.h"

namespace fuselage::cuda {

/// The numbers of a DeviceMatrix on the host.
struct MatrixColumns {
  DType dtype = DType::f32;
  std::int64_t stride = 0;
  std::vector<std::byte> numbers;  ///< [padded_size(n)][stride]
  std::vector<float> scales;       ///< of integers: padded_size(n) of them
};

/// Brings a matrix that a graph stores as [k, n], or transposed as [n, k], into the form of
/// DeviceMatrix. Quantized matrices are stored by columns, scale and integers together. Throws
/// Error for integers of which products may leave 32 bits; types that no product takes are an
/// internal error.
MatrixColumns matrix_columns(const Tensor& matrix, const MatrixForm& form);

}  // namespace fuselage::cuda
