#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/device_weights.h"
#include "base/dtype.h"

namespace fuselage::cuda {

struct BlasOptions {
  bool tf32 = false;           ///< products of f32 may round what they multiply to TF32
  bool deterministic = false;  ///< the bits of a row do not depend on how many rows there are
};

/// What is multiplied by a matrix W [k, n], and where the result goes: out [rows, n] = x W. All
/// rows are computed on what memory holds, also those that nobody will read: x and out must have
/// room for all of them.
struct Product {
  const void* x = nullptr;    ///< of the matrix's type
  std::int64_t x_stride = 0;  ///< in elements, as out_stride
  std::int64_t rows = 0;
  /// Behind each row of x there are zeros up to the matrix's stride. Needed for i8.
  bool padded = false;
  void* out = nullptr;
  /// At least n; for i8, at least padded_size(n), up to which all columns are written.
  std::int64_t out_stride = 0;
  DType out_type = DType::f32;  ///< f32, or the matrix's type where that is bf16 or f16; i8: i32
  const float* bias = nullptr;  ///< n numbers that are added to each row; with an out of f32 alone
  bool relu = false;            ///< max(·, 0) behind the bias
};

/// Products of matrices of f32, bf16, f16 and i8 by cuBLASLt, with sums in f32, of i8 in i32. One
/// for each worker: not thread-safe, and its products must follow one another on one stream, since
/// they share a workspace. They can be captured.
class Blas {
 public:
  explicit Blas(const BlasOptions& options = {});
  ~Blas();

  /// Puts a product at the end of the stream. Algorithms are chosen when a shape is met for the
  /// first time. Throws Error when cuBLASLt has none.
  void product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fuselage::cuda
