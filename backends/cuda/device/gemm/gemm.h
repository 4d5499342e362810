#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/base/dtype.h"

namespace fuselage::cuda {

/// A GEMM: rows of an operand, in any layout, times a matrix of any type. Selects cuBLASLt or a
/// kernel for integers. Immutable; workers share it.
class Gemm {
 public:
  /// Operands that are staged in the workspace, since their rows are not at a constant stride.
  struct Staging {
    bool x = false;    ///< x has an index or a `first`, or repeats a row
    bool out = false;  ///< out has a `first`
  };

  struct Call {
    cudaStream_t stream = nullptr;
    Blas& blas;
    Workspace workspace;
    RowsIn x;  ///< f32, or quantized vectors and 16-bit floats as elements of 4 bytes
    Rows rows;
    RowsOut out;
    const float* bias = nullptr;  ///< only with fuses_bias_relu()
    bool relu = false;            ///< only with fuses_bias_relu()
  };

  /// Each row of x and of the result has `vectors` vectors, one after the other without gaps.
  /// x_type is f32 for any matrix, and x is rounded for matrices of bf16 and f16; or the type of
  /// these, in vectors of a multiple of kMatrixTile; or qint8 for matrices of i8, and qint16 for
  /// i16.
  Gemm(std::shared_ptr<const DeviceMatrix> matrix, DType x_type, std::int64_t vectors = 1);

  const DeviceMatrix& matrix() const { return *matrix_; }
  std::int64_t k() const { return matrix_->k; }
  std::int64_t n() const { return matrix_->n; }

  /// Whether a launch can add a bias and apply ReLU. Not for integers.
  bool fuses_bias_relu() const { return !is_integer(); }

  /// Workspace of a launch for at most `rows` rows.
  std::size_t workspace_bytes(std::int64_t rows, const Staging& staging) const;

  /// Enqueues the GEMM. x and out, unless staged, must have memory for rows.max_live rows: rows
  /// past the live ones are read without effect, and overwritten.
  void launch(const Call& call) const;

 private:
  struct Memory;

  bool is_integer() const;
  bool rounds_x() const { return !is_integer() && matrix_->dtype != x_type_; }
  /// Elements of 4 bytes of a vector of x.
  std::int64_t vector_words() const { return is_half(x_type_) ? matrix_->k / 2 : matrix_->k; }
  bool uses_integer_blas(std::int64_t vectors) const;
  Memory memory_for(std::int64_t rows, const Staging& staging, Workspace workspace) const;
  void multiply_reals(const Call& call, const Memory& memory, const Staging& staging) const;
  void multiply_integers(const Call& call, const Memory& memory) const;

  std::shared_ptr<const DeviceMatrix> matrix_;
  DType x_type_;
  std::int64_t vectors_;
};

}  // namespace fuselage::cuda
