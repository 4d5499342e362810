#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ops/elementwise_expression.h"

namespace fuselage::cuda {

inline constexpr std::size_t kMaxElementOperands = 64;
inline constexpr std::size_t kMaxElementResults = 16;

// The parameters of a kernel that elementwise_source() writes: the rows, the operands, the results,
// one behind the other without gaps, in one struct that is passed by value. The generated text
// declares the same structs. What the members mean stands in device/rows.h.

struct ElementRows {
  const std::int32_t* live = nullptr;
  std::int32_t most = 0;
  std::int32_t columns = 0;  ///< of operands and results, or fours of them for kFourElements
};

struct ElementOperand {
  const float* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* index = nullptr;
  const float* fallback = nullptr;
  const std::int32_t* first = nullptr;
  std::int32_t columns = 0;
  std::int32_t padding = 0;
};

struct ElementResult {
  float* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* first = nullptr;
};

/// The kernels of a generated text: one thread for each element, or for each four side by side,
/// whose rows begin at multiples of 16 bytes. Both take the grid and block of spread_over().
inline constexpr const char* kSingleElements = "elements";
inline constexpr const char* kFourElements = "elements4";

/// A node's own expression, or its op as the only step.
ElementwiseExpression elementwise_expression(const Node& node);

/// CUDA C++ of the kernels of an expression; needs no headers. Operand i has one element a row,
/// which stands for all columns, where scalar[i]. Each element is computed by the same operations
/// in both kernels. Operands are read before results of the same elements are written.
std::string elementwise_source(const ElementwiseExpression& expression,
                               const std::vector<bool>& scalar);

/// Why there is no such text; empty: there is one.
std::string refuse_elementwise_source(const ElementwiseExpression& expression);

}  // namespace fuselage::cuda
