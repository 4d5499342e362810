#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"
#include "fuselage/ops/precision/quantize.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// A fused chain of elementwise ops; the operands are x0, x1, … of its expression.
struct Pointwise : QuantizedResults {
  static constexpr std::string_view kName = "pointwise";
  std::string expression;
  static constexpr auto attributes() {
    return std::tuple_cat(
        std::tuple(required("expression", &Pointwise::expression).formerly("formula")),
        QuantizedResults::attributes());
  }
};

/// The product x W, or x Wᵀ, and an expression of it, as x0, and of operands 2, 3, … as x1, x2, ….
struct Linear : QuantizedResults {
  static constexpr std::string_view kName = "linear";
  bool transposed = false;
  std::string expression;
  static constexpr auto attributes() {
    return std::tuple_cat(
        std::tuple(defaulted("transposed", &Linear::transposed),
                   required("expression", &Linear::expression).formerly("formula")),
        QuantizedResults::attributes());
  }
};

/// The attributes of a sum with its normalization.
struct AddNorm : QuantizedResults {
  double epsilon = 0;
  static constexpr auto attributes() {
    return std::tuple_cat(std::tuple(required("epsilon", &AddNorm::epsilon)),
                          QuantizedResults::attributes());
  }
};

/// Results: layer_norm(a + b), and a + b.
struct AddLayerNorm : AddNorm {
  static constexpr std::string_view kName = "add_layer_norm";
};

/// Results: rms_norm(a + b), and a + b.
struct AddRmsNorm : AddNorm {
  static constexpr std::string_view kName = "add_rms_norm";
};

/// x plus the sinusoidal encoding (op::Sinusoid) of the position of each row in its sentence.
struct AddSinusoid : QuantizedResults {
  static constexpr std::string_view kName = "add_sinusoid";
};

/// The elementwise expression of an op that carries one (elementwise_expression.h).
struct Expression {
  std::string expression;
  static constexpr auto attributes() {
    return std::tuple(required("expression", &Expression::expression).formerly("formula"));
  }
};

}  // namespace op

/// Fused elementwise chains, products, normalizations, and sums with positions.
std::span<const OpDef> fused_ops();

}  // namespace fuselage
