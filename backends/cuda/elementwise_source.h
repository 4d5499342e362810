#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/exported.h"
#include "fuselage/graph/graph.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cuda {

inline constexpr std::size_t kMaxElementOperands = 64;
inline constexpr std::size_t kMaxElementResults = 16;

// The parameters of a generated kernel: rows, operands, results and then rounded results, those
// that are stored, without gaps, in one struct that is passed by value. The generated source
// declares the same structs. They have the members of the structs in device/runtime/rows.h.

struct ElementRows {
  const std::int32_t* live = nullptr;
  std::int32_t max_live = 0;
  std::int32_t columns = 0;  ///< of operands and results; a quarter of it for kFloat4Kernel
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

struct RoundedElementResult {
  std::uint16_t* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* first = nullptr;
};

/// The form in which a result of an expression is stored.
struct ElementForm {
  bool floats = true;
  bool rounded = false;  ///< to 16 bits, behind all floats
  bool is_bf16 = true;   ///< else f16
};

/// The names of the generated kernels: a thread for each element, or for each float4, with rows
/// aligned to 16 bytes. Both are launched with config_for_elements().
inline constexpr const char* kScalarKernel = "elements";
inline constexpr const char* kFloat4Kernel = "elements4";

/// A node's attribute `expression`, or else its op as the only step.
FUSELAGE_EXPORTED ElementwiseExpression elementwise_expression(const Node& node);

/// The CUDA C++ source of an expression's kernels, without includes. Where scalar[i], operand i has
/// one element per row, which is broadcast to all columns. `forms` has the form of each result;
/// empty: floats. Both kernels use the same operations for an element. An element's operands are
/// read before its results are written.
FUSELAGE_EXPORTED std::string elementwise_source(const ElementwiseExpression& expression,
                                                 const std::vector<bool>& scalar,
                                                 const std::vector<ElementForm>& forms = {});

/// Why an expression has no source; empty if it has one.
std::string refuse_elementwise_source(const ElementwiseExpression& expression);

}  // namespace fuselage::cuda
