#pragma once

#include <cstddef>
#include <memory>

#include "backends/cpu/runtime/kernel.h"
#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/weights/pack.h"
#include "base/tensor.h"

namespace fuselage::cpu {

// A stored matrix operand in a form of the kernel's own, which it reads in the place of the
// operand's buffer. Kernels ask when they are bound; the numbers are there when they run.

/// The matrix packed for the active instruction-set level.
std::shared_ptr<const PackedMatrix> packed_operand(const PlannedInstruction& in,
                                                   const Binding& binding, std::size_t operand,
                                                   const MatrixShape& shape);

/// A row for each column of the matrix, [n, k].
std::shared_ptr<const Tensor> columns_operand(const PlannedInstruction& in, const Binding& binding,
                                              std::size_t operand, const MatrixShape& shape);

}  // namespace fuselage::cpu
