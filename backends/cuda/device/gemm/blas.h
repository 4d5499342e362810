#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/device_weights.h"
#include "fuselage/base/dtype.h"

namespace fuselage::cuda {

struct BlasOptions {
  bool tf32 = false;           ///< products of f32 may round their operands to TF32
  bool deterministic = false;  ///< the bits of a row do not depend on the number of rows
};

/// out [rows, n] = x W for a matrix W [k, n], with an optional epilogue. All `rows` are computed,
/// live or not: x and out must have memory for them.
struct Product {
  const void* x = nullptr;    ///< of the matrix's type
  std::int64_t x_stride = 0;  ///< in elements
  std::int64_t rows = 0;
  /// Rows of x are padded with zeros to the matrix's stride. Required for i8.
  bool padded = false;
  void* out = nullptr;
  /// In elements; at least n. For i8 at least padded_size(n), and all these columns are written.
  std::int64_t out_stride = 0;
  DType out_type = DType::f32;  ///< f32; for matrices of bf16 and f16 also their type; for i8 i32
  const float* bias = nullptr;  ///< n numbers, added to each row; only for an out_type of f32
  bool relu = false;            ///< max(·, 0), after the bias
};

/// GEMMs by cuBLASLt for matrices of f32, bf16 and f16, with sums in f32, and of i8, with sums in
/// i32. One per worker: not thread-safe, and all products must be on one stream, since they share a
/// workspace. Products can be captured.
class Blas {
 public:
  explicit Blas(const BlasOptions& options = {});
  ~Blas();

  bool is_deterministic() const;

  /// Enqueues a product. The algorithm is chosen at the first product of a shape. Where cuBLASLt
  /// has none, throws Error or, if deterministic, enqueues a slower kernel.
  void product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product);

 private:
  struct State;

  /// Enqueues the product in two parts.
  void divide(cudaStream_t stream, const DeviceMatrix& matrix, const Product& whole);

  std::unique_ptr<State> state_;
};

}  // namespace fuselage::cuda
