#pragma once

#include <library_types.h>

#include <cstdint>

namespace emulated_cuda {

/// A column-major matrix, or row-major if transposed.
struct MatrixView {
  const void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// result = alpha * a * b + beta * c, then bias and ReLU. result and c are column-major.
struct MatrixProduct {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixView a, b;
  const void* c = nullptr;
  void* result = nullptr;
  cudaDataType_t type = CUDA_R_32F;  ///< type of c and of the result
  std::int64_t c_stride = 0, result_stride = 0;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;  ///< m numbers of the result's type
  bool relu = false;
  bool tf32 = false;     ///< round operands to 10 bits of mantissa
  bool split_k = false;  ///< sum the halves of k separately, then add
};

/// Sums are int32 for integers, and float for other types.
void multiply(const MatrixProduct& product);

/// Bytes of an element.
std::int64_t size_of(cudaDataType_t type);

}  // namespace emulated_cuda
