#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The product x W, or x Wᵀ; operands x [..., k] and W, known at load time.
struct Matmul {
  static constexpr std::string_view kName = "matmul";
  bool transposed = false;
  static constexpr auto attributes() {
    return std::tuple(defaulted("transposed", &Matmul::transposed));
  }
};

/// Whether a product uses the transpose of its matrix; an attribute of all ops with a product.
struct Transposed {
  bool transposed = false;
  static constexpr auto attributes() {
    return std::tuple(defaulted("transposed", &Transposed::transposed));
  }
};

}  // namespace op

/// Products with a weight matrix.
std::span<const OpDef> matmul_ops();

}  // namespace fuselage
