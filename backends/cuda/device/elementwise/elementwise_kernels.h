#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/kernel/rounded_results.h"
#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/runtime_compiler.h"
#include "backends/cuda/elementwise_source.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cuda {

/// The forms in which a node's results are stored.
std::vector<ElementForm> forms_of(const RoundedResults& results);

/// An elementwise expression, compiled for the device. Immutable; workers share it.
class CompiledExpression {
 public:
  /// `scalar[i]`: operand i has one element per row, which is broadcast to all columns. `forms` has
  /// the form of each result; empty: floats. Compiles
  /// (slow) unless the process or the cache has the kernels. Not allowed during a capture.
  CompiledExpression(const ElementwiseExpression& expression, const std::vector<bool>& scalar,
                     const std::vector<ElementForm>& forms = {});

  /// Computes results[i] [rows, columns] of as many operands as `scalar` has elements. A result may
  /// overwrite an operand with the same rows.
  void launch(cudaStream_t stream, const Rows& rows, std::int64_t columns,
              std::span<const RowsIn> operands, std::span<const FloatsOut> results) const;

 private:
  bool vectorizes(std::int64_t columns, std::span<const RowsIn> operands,
                  std::span<const FloatsOut> results) const;

  std::vector<bool> scalar_;
  std::vector<ElementForm> forms_;  ///< of each result
  std::shared_ptr<const KernelLibrary> library_;
  const void* scalar_kernel_;
  const void* float4_kernel_;
};

}  // namespace fuselage::cuda
