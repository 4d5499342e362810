#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The products of the matrices in two values, row by row: a [..., m, k] and b [..., k, n], or
/// [..., n, k] if transposed, with equal leading dimensions; the result is [..., m, n].
struct BatchMatmul {
  static constexpr std::string_view kName = "batch_matmul";
  bool transposed = false;
  static constexpr auto attributes() {
    return std::tuple(defaulted("transposed", &BatchMatmul::transposed));
  }
};

}  // namespace op

/// The products that a node makes in each row: `count` times [m, k] by [k, n].
struct BatchMatmulShape {
  std::int64_t count = 0;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  bool transposed = false;  ///< b is stored as [n, k]
};

BatchMatmulShape batch_matmul_shape(const Graph& graph, const Node& node);

/// Products of two values.
std::span<const OpDef> batch_matmul_ops();

}  // namespace fuselage
