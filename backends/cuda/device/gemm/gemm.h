#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/runtime/rows.h"
#include "base/dtype.h"

namespace fuselage::cuda {

/// A product of the rows of an operand, however they lie, with a matrix of any type. Immutable;
/// workers share it.
class RowProduct {
 public:
  /// What keeps rows from being read or written where they are.
  struct Detours {
    bool gathers = false;  ///< x is read through an index, from `first` on, or repeats a row
    bool appends = false;  ///< out has a `first`
  };

  struct Call {
    cudaStream_t stream = nullptr;
    Blas& blas;
    Workspace workspace;
    RowsIn x;  ///< f32, or quantized vectors as elements of 4 bytes
    Rows rows;
    RowsOut out;
    const float* bias = nullptr;  ///< where fuses()
    bool relu = false;            ///< where fuses()
  };

  /// Each row of x has `vectors` vectors of the type x_type, one after the other without gaps, and
  /// so have those of the result. Rows of f32 go with any matrix, and are rounded to its type where
  /// that is bf16 or f16; rows of qint8 go with i8 and those of qint16 with i16.
  RowProduct(std::shared_ptr<const DeviceMatrix> matrix, DType x_type, std::int64_t vectors = 1);

  const DeviceMatrix& matrix() const { return *matrix_; }
  std::int64_t k() const { return matrix_->k; }
  std::int64_t n() const { return matrix_->n; }

  /// Whether a bias and ReLU may go with the product; not with products of integers.
  bool fuses() const { return !is_integer(); }

  /// For at most `rows` rows.
  std::size_t workspace_bytes(std::int64_t rows, const Detours& detours) const;

  /// Puts the product at the end of the stream. Rows of x that are read where they are, and rows of
  /// out that are written where they belong, must have room for rows.most rows: what stands behind
  /// the live ones is read, to no effect, and overwritten.
  void launch(const Call& call) const;

 private:
  struct Memory;

  bool is_integer() const;
  bool is_converted() const { return !is_integer() && matrix_->dtype != DType::f32; }
  bool takes_sums(std::int64_t vectors) const;
  Memory memory_for(std::int64_t rows, const Detours& detours, Workspace workspace) const;
  void multiply_reals(const Call& call, const Memory& memory, const Detours& detours) const;
  void multiply_integers(const Call& call, const Memory& memory) const;

  std::shared_ptr<const DeviceMatrix> matrix_;
  std::int64_t vectors_;
};

}  // namespace fuselage::cuda
