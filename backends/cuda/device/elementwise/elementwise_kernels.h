#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/runtime_compiler.h"
#include "ops/elementwise_expression.h"

namespace fuselage::cuda {

/// An expression compiled for the device. Immutable; workers share it.
class ElementKernel {
 public:
  /// `scalar[i]`: operand i has one element a row, which stands for all columns. Compiles, which
  /// takes a moment, unless that was done before; not for a stream that captures.
  ElementKernel(const ElementwiseExpression& expression, const std::vector<bool>& scalar);

  /// results[i] [rows, columns], of operands as many as `scalar` had. A result may lie where an
  /// operand does, when their rows coincide.
  void launch(cudaStream_t stream, const Rows& rows, std::int64_t columns,
              std::span<const RowsIn> operands, std::span<const RowsOut> results) const;

 private:
  bool takes_fours(std::int64_t columns, std::span<const RowsIn> operands,
                   std::span<const RowsOut> results) const;

  std::vector<bool> scalar_;
  std::size_t result_count_;
  std::shared_ptr<const KernelLibrary> library_;
  const void* singles_;
  const void* fours_;
};

}  // namespace fuselage::cuda
