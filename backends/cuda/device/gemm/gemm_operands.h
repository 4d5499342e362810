#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/gemm.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {

/// The operands of a node that a GEMM multiplies.
struct Factors {
  std::size_t x = 0;
  std::size_t w = 1;
  bool transposed = false;
};

/// Operands 0 and 1, with the node's attribute "transposed".
Factors first_two_factors(const Binding& binding);

/// The stored matrix of factors.w, in the form that a GEMM reads.
std::shared_ptr<const DeviceMatrix> stored_matrix(const PlannedInstruction& in,
                                                  const Binding& binding, const Factors& factors);

/// A GEMM of an operand of a node and a stored matrix, for kernels that begin with one.
class GemmOperands {
 public:
  /// With first_two_factors().
  GemmOperands(const PlannedInstruction& in, const Binding& binding);
  GemmOperands(const PlannedInstruction& in, const Binding& binding, const Factors& factors);

  const Gemm& gemm() const { return gemm_; }

  /// Whether the first result keeps the rows of earlier steps, so that new rows do not begin with
  /// row 0.
  bool stages_out() const { return staging_.out; }

  std::int64_t max_rows(const PlannedInstruction& in, const RowBounds& bounds) const {
    return bounds[in.domain].max_live;
  }

  /// Workspace of a GEMM to the node's first result.
  std::size_t workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds) const;

  /// Workspace of a GEMM of at most `rows` rows to another buffer.
  std::size_t buffer_workspace_bytes(std::int64_t rows) const;

  /// A call of the GEMM to the node's first result. Callers may change it.
  Gemm::Call call(const PlannedInstruction& in, const Run& run) const;

 private:
  std::size_t operand_;
  Gemm::Staging staging_;
  Gemm gemm_;
};

}  // namespace fuselage::cuda
