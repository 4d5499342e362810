#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/kernel.h"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/row_product.h"

namespace fuselage::cuda {

/// The product that a node begins with, of its first operand and the stored matrix that is its
/// second; what it does with that may differ. Its first result has as many vectors a row as its
/// first operand.
class BoundProduct {
 public:
  BoundProduct(const PlannedInstruction& in, const Binding& binding);

  const RowProduct& rows() const { return rows_; }

  /// Whether the rows of the results lie behind those of earlier steps.
  bool appends() const { return detours_.appends; }

  std::int64_t most_rows(const PlannedInstruction& in, const RowBounds& bounds) const {
    return bounds[in.domain].most_live;
  }

  /// For a product into the node's first result, or, with `apart`, into memory of its own.
  std::size_t workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds,
                              bool apart = false) const;

  /// The product into the node's first result, as a call to make or to change before.
  RowProduct::Call call(const PlannedInstruction& in, const Run& run) const;

 private:
  RowProduct::Detours detours_;
  RowProduct rows_;
};

}  // namespace fuselage::cuda
