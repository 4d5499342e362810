#pragma once

#include <library_types.h>

#include <cstdint>

namespace emulated_cuda {

/// A matrix stored by columns, or by rows if it is transposed.
struct MatrixView {
  const void* data = nullptr;
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// result = alpha * a * b + beta * c, then bias and ReLU; result and c are stored by columns.
struct MatrixProduct {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixView a, b;
  const void* c = nullptr;
  void* result = nullptr;
  cudaDataType_t type = CUDA_R_32F;  ///< of c and the result
  std::int64_t c_stride = 0, result_stride = 0;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;  ///< m numbers of the result's type
  bool relu = false;
  bool tf32 = false;     ///< operands are rounded to 10 bits of mantissa
  bool split_k = false;  ///< the halves of k are summed for themselves, then added
};

/// Integers are summed in 32 bits, all else in float.
void multiply(const MatrixProduct& product);

/// Bytes of an element.
std::int64_t size_of(cudaDataType_t type);

}  // namespace emulated_cuda
