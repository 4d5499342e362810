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

  /// Quantizes rows first … last - 1 of the instruction's rows.
  void quantize(const PlannedInstruction& in, const Run& run, std::size_t first,
                std::size_t last) const;
  /// The same for all rows.
  void quantize(const PlannedInstruction& in, const Run& run) const;

 private:
  struct Result {
    std::size_t of = 0, at = 0;  ///< result numbers of source and quantized vectors
    std::size_t vectors = 1;     ///< per row
  };

  void quantize(const Result& result, const PlannedInstruction& in, const Run& run,
                std::size_t first, std::size_t last) const;

  Quantizer quantizer_;
  bool vectorized_ = true;  ///< quantize_rows supports the quantizer
  std::vector<Result> results_;
};

}  // namespace fuselage::cpu
