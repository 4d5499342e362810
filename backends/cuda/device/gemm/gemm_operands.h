#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/gemm.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {

/// Which operands of a node are multiplied.
struct Factors {
  std::size_t x = 0;
  std::size_t w = 1;
  bool transposed = false;
};

/// The first operand and the second, by the node's attribute "transposed".
Factors first_two(const Binding& binding);

/// The stored matrix that is an operand of a node.
std::shared_ptr<const DeviceMatrix> stored_matrix(const PlannedInstruction& in,
                                                  const Binding& binding, const Factors& factors);

/// A product that a node begins with, of an operand and a stored matrix that is another; what it
/// does with that may differ. Its first result has as many vectors a row as the operand.
class BoundProduct {
 public:
  /// Of the first two.
  BoundProduct(const PlannedInstruction& in, const Binding& binding);
  BoundProduct(const PlannedInstruction& in, const Binding& binding, const Factors& factors);

  const RowProduct& rows() const { return rows_; }

  /// Whether the rows of the results lie behind those of earlier steps.
  bool appends() const { return detours_.appends; }

  std::int64_t most_rows(const PlannedInstruction& in, const RowBounds& bounds) const {
    return bounds[in.domain].most_live;
  }

  /// For a product into the node's first result, or, with `apart`, into memory of its own.
  std::size_t workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds,
                              bool apart = false) const;

  /// For a product of at most `rows` rows into memory of its own.
  std::size_t bytes_apart(std::int64_t rows) const;

  /// The product into the node's first result, as a call to make or to change before.
  RowProduct::Call call(const PlannedInstruction& in, const Run& run) const;

 private:
  std::size_t operand_;
  RowProduct::Detours detours_;
  RowProduct rows_;
};

}  // namespace fuselage::cuda
