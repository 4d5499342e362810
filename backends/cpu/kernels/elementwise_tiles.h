#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/cpu/simd/table.h"
#include "fuselage/ops/row_function.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cpu {

/// The unary or binary kernel operation of an op; nullopt if there is none.
std::optional<Unary> unary_named(std::string_view op);
std::optional<Binary> binary_named(std::string_view op);

/// An expression compiled for the active instruction-set level. It runs in tiles, so that
/// intermediate values stay in the L1 cache. Results equal the results of separate kernels bit for
/// bit, since the operations are the same. An op without a vector function runs by its row
/// function.
class ElementwiseTiles {
 public:
  /// `scalar[i]`: operand i has one element per row, which is broadcast over the columns.
  ElementwiseTiles(const ElementwiseExpression& expression, const std::vector<bool>& scalar);

  /// The reason why no kernel can be made; empty: one can.
  static std::string refuse(const ElementwiseExpression& expression);

  /// Computes results[i] [rows, cols]. A result may alias an operand if their rows coincide.
  void run(const RowsIn* operands, std::size_t rows, std::size_t cols,
           const RowsOut* results) const;

  /// The same for columns `first` … `first + cols - 1` of operands and results.
  void run_columns(const RowsIn* operands, std::size_t rows, std::size_t first, std::size_t cols,
                   const RowsOut* results) const;

  std::size_t result_count() const { return results_.size(); }
  std::size_t step_count() const { return steps_.size(); }

 private:
  struct Source {
    ElementwiseExpression::Argument::Kind kind = ElementwiseExpression::Argument::Kind::operand;
    std::uint32_t index = 0;  ///< operand, scratch slot or number
    bool scalar = false;
  };
  /// Has one of the three functions.
  struct Step {
    UnaryRow unary = nullptr;
    BinaryRow binary = nullptr;
    RowFunction row;
    std::vector<Source> arguments;
    std::uint32_t slot = 0;
  };

  Source source_of(const ElementwiseExpression::Argument& argument, const std::vector<bool>& scalar,
                   const std::vector<std::uint32_t>& slot_of_step);

  std::vector<Step> steps_;
  std::vector<float> numbers_;
  std::vector<std::uint32_t> results_;  ///< slots
};

}  // namespace fuselage::cpu
