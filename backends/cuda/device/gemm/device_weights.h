#pragma once

#include <cstdint>
#include <memory>

#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/dtype.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cuda {

/// Sizes of matrices are rounded up to multiples of this.
inline constexpr std::int64_t kMatrixTile = 16;
constexpr std::int64_t padded_size(std::int64_t size) {
  return (size + kMatrixTile - 1) / kMatrixTile * kMatrixTile;
}

/// The right-hand matrix W [k, n] of a product x W in device memory, column-major.
struct DeviceMatrix {
  const void* data = nullptr;
  DType dtype = DType::f32;  ///< f32, f16, bf16, or i8 and i16 with `scales`
  std::int64_t k = 0;
  std::int64_t n = 0;
  /// Elements from column to column: padded_size(k). Columns are padded with zeros, and so is the
  /// matrix, to padded_size(n) columns.
  std::int64_t stride = 0;
  const float* scales = nullptr;  ///< n scales, for integers
};

/// The shape of a product's matrix, and its layout in the graph.
struct MatrixForm {
  std::int64_t k = 0, n = 0;
  bool transposed = false;  ///< stored as [n, k]

  bool operator==(const MatrixForm&) const = default;
};

/// The weights of a model in device memory: one copy for each form that kernels read.
class DeviceWeights {
 public:
  /// `weights`: the model's weights and the results of its load program.
  explicit DeviceWeights(TensorMap weights);
  ~DeviceWeights();

  /// A weight buffer of a plan, in the graph's form.
  const std::byte* stored(const ProgramPlan& plan, const Buffer& buffer);

  /// The weight that an operand of a plan views, as a matrix. qint8 becomes i8 and qint16 i16;
  /// other types stay. Throws Error for qlog4.
  std::shared_ptr<const DeviceMatrix> matrix(const ProgramPlan& plan, const BufferView& view,
                                             const MatrixForm& form);

  /// The weight that an operand of a plan views, on the host, for a kernel that converts and
  /// uploads it.
  Tensor host_numbers(const ProgramPlan& plan, const BufferView& view);

  /// Whether matrix() or host_numbers() was called for this operand, so that its kernel needs no
  /// stored() form.
  bool has_own_form(const BufferView& view) const;

  /// Copies host memory to the device. The copy lives as long as this object.
  const std::byte* upload(const void* data, std::size_t bytes);

  /// Frees the weights on the host, once all kernels are made.
  void release_host_weights();

  /// Bytes of device memory: all weights, and matrices alone.
  std::size_t size_bytes() const;
  std::size_t matrix_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fuselage::cuda
