#pragma once

#include <cstdint>
#include <memory>

#include "backends/plan/plan.h"
#include "base/dtype.h"
#include "base/tensor.h"

namespace fuselage::cuda {

/// What the sizes of matrices are rounded up to multiples of.
inline constexpr std::int64_t kMatrixTile = 16;
constexpr std::int64_t padded_size(std::int64_t size) {
  return (size + kMatrixTile - 1) / kMatrixTile * kMatrixTile;
}

/// A matrix of products in device memory: n columns of k numbers, each column in one piece. The
/// operand of a product is its left side, x [rows, k]; the result has n columns.
struct DeviceMatrix {
  const void* data = nullptr;
  DType dtype = DType::f32;  ///< f32, f16, bf16, or i8 and i16: integers with `scales`
  std::int64_t k = 0;
  std::int64_t n = 0;
  /// Numbers from column to column: padded_size(k), filled with zeros. There are zero columns
  /// behind the last one, up to padded_size(n) of them.
  std::int64_t stride = 0;
  const float* scales = nullptr;  ///< of integers: n of them
};

/// How a product reads its matrix in the graph.
struct MatrixForm {
  std::int64_t k = 0, n = 0;
  bool transposed = false;  ///< it is stored as [n, k]

  bool operator==(const MatrixForm&) const = default;
};

/// The weights of a model in device memory, each once in each form in which some kernel reads it.
class DeviceWeights {
 public:
  /// `weights` are the model's and the results of its load program.
  explicit DeviceWeights(TensorMap weights);
  ~DeviceWeights();

  /// The numbers of a weight buffer of a plan, in the form in which the graph has them.
  const std::byte* stored(const ProgramPlan& plan, const Buffer& buffer);

  /// The matrix that a place of a plan holds. Its type follows from that of the stored weight:
  /// qint8 becomes i8, qint16 i16, the others stay. Throws Error for qlog4. `place` is an operand
  /// in the plan.
  std::shared_ptr<const DeviceMatrix> matrix(const ProgramPlan& plan, const BufferView& view,
                                             const MatrixForm& form);

  /// The numbers that a place of a plan holds, on the host: for a kernel that uploads them in a
  /// form of its own. `place` is an operand in the plan.
  Tensor host_numbers(const ProgramPlan& plan, const BufferView& view);

  /// Whether matrix() or host_numbers() was asked for this place: what reads it needs no stored
  /// numbers.
  bool has_own_form(const BufferView& view) const;

  /// A copy of host memory on the device, kept as long as this.
  const std::byte* upload(const void* data, std::size_t bytes);

  /// Lets go of the weights on the host: nothing more is asked for.
  void release_host_weights();

  /// Bytes of device memory that have been taken, and of them those of matrices.
  std::size_t size_bytes() const;
  std::size_t matrix_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fuselage::cuda
