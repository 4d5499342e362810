#pragma once

#include <cstddef>
#include <memory>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/weights/pack.h"
#include "fuselage/backends/cpu/runtime/kernel.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cpu {

// A kernel's own form of a stored matrix operand, read instead of the operand's buffer. Kernels
// request it when they are bound; it is filled before they run.

/// The matrix packed for the active instruction-set level.
std::shared_ptr<const PackedMatrix> packed_operand(const PlannedInstruction& in,
                                                   const Binding& binding, std::size_t operand,
                                                   const MatrixShape& shape);

/// The type of a matrix by columns: its own, but f32 for f16, of which kernels have no products.
DType columns_type(const Binding& binding, std::size_t operand);

/// The transposed matrix, [n, k]: a row per column, in the type columns_type().
std::shared_ptr<const Tensor> columns_operand(const PlannedInstruction& in, const Binding& binding,
                                              std::size_t operand, const MatrixShape& shape);

}  // namespace fuselage::cpu
