#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cuda {

/// The contents of a DeviceMatrix, on the host.
struct MatrixColumns {
  DType dtype = DType::f32;
  std::int64_t stride = 0;
  std::vector<std::byte> numbers;  ///< [padded_size(n)][stride]
  std::vector<float> scales;       ///< padded_size(n) scales, for integers
};

/// Converts a matrix from the graph's layout, [k, n] or transposed [n, k], to the layout of
/// DeviceMatrix.
/// Quantized matrices must be transposed. Throws Error for integers with products that can overflow
/// 32 bits; an unsupported type is an internal error.
MatrixColumns matrix_columns(const Tensor& matrix, const MatrixForm& form);

}  // namespace fuselage::cuda
