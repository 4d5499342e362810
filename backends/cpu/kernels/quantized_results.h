#pragma once

#include <cstddef>
#include <vector>

#include "fuselage/backends/cpu/runtime/kernel.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cpu {

/// The trailing results of a node that are quantized vectors of its other results (ops/quantize.h).
/// A kernel quantizes rows right after computing them, while they are in the cache.
class QuantizedResults {
 public:
  QuantizedResults(const PlannedInstruction& in, const Binding& binding);

  std::size_t size() const { return results_.size(); }
  bool empty() const { return results_.empty(); }

  /// The row in which a kernel that computes its rows in blocks, from `first` on, keeps row `row`
  /// of a result: its own, or the first one, if no other node reads the result. Such a result then
  /// is a block in the cache rather than as long as the batch.
  std::size_t place(std::size_t result, std::size_t first, std::size_t row) const {
    return is_read_[result] ? row : first;
  }

  /// Quantizes the block of rows begin … end - 1, which `place` places.
  void quantize_block(const PlannedInstruction& in, const Run& run, std::size_t first,
                      std::size_t begin, std::size_t end) const;
  /// Quantizes all rows, in their own places.
  void quantize(const PlannedInstruction& in, const Run& run) const;

 private:
  struct Result {
    std::size_t of = 0, at = 0;  ///< result numbers of source and quantized vectors
    std::size_t vectors = 1;     ///< per row
  };

  /// Quantizes rows begin … end - 1, whose source begins with row `from`.
  void quantize(const Result& result, const PlannedInstruction& in, const Run& run,
                std::size_t from, std::size_t begin, std::size_t end) const;

  Quantizer quantizer_;
  bool vectorized_ = true;  ///< quantize_rows supports the quantizer
  std::vector<Result> results_;
  std::vector<bool> is_read_;  ///< by result: by another node, or it is an output
};

}  // namespace fuselage::cpu
