#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/runtime/floats_out.h"

namespace fuselage::cuda {

/// Whether anything reads a value: kernels need not store others.
bool has_reader(const Graph& graph, ValueId value);

/// Whether a kernel stores the floats of a result: not if only their rounding is read.
bool stores_floats(const Graph& graph, const Node& node, std::size_t result);

/// The trailing results of a node that are other results of it, rounded to 16 bits
/// (ops/quantize.h).
class RoundedResults {
 public:
  RoundedResults(const PlannedInstruction& in, const Binding& binding);

  /// The number of results that are not roundings.
  std::size_t own() const { return rounded_as_.size(); }
  /// stores_floats() of the node.
  bool stores(std::size_t result) const { return stores_[result]; }
  /// The number of the result that is the rounding of `result`; kNone: there is none.
  std::int32_t rounding_of(std::size_t result) const { return rounded_as_[result]; }
  bool is_bf16() const { return is_bf16_; }

  /// Where a result is written.
  FloatsOut out(const PlannedInstruction& in, const Run& run, std::size_t result) const;
  /// Its rounded part alone.
  ResultOf<std::uint16_t> rounded_out(const PlannedInstruction& in, const Run& run,
                                      std::size_t result) const;

 private:
  std::vector<std::int32_t> rounded_as_;  ///< by result
  std::vector<bool> stores_;              ///< by result
  bool is_bf16_ = true;
};

/// A result with rows of 16-bit numbers.
ResultOf<std::uint16_t> halves_out(const PlannedInstruction& in, const Run& run,
                                   std::size_t result);

}  // namespace fuselage::cuda
