#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/row_function.h"

namespace fuselage::support {

// Ops as another project registers them. Registries are process-wide, so each test's names are its
// own.

/// factor a / (1 + |b|) + c, element by element; b may be one element.
struct Gate {
  static constexpr std::string_view kName = "ext_gate";
  double factor = 1;
  static constexpr auto attributes() { return std::tuple(defaulted("factor", &Gate::factor)); }
};

/// The square, defined by its evaluation alone.
struct Square {
  static constexpr std::string_view kName = "ext_square";
};

/// Each element divided by the sum of the row's magnitudes: row-wise, not elementwise.
struct Share {
  static constexpr std::string_view kName = "ext_share";
};

template <typename T>
void evaluate_square(EvalContext<T>& context) {
  const auto& x = context.operands[0]->data;
  std::transform(x.begin(), x.end(), context.results[0].data.begin(), [](T v) { return v * v; });
}

/// Registers the ops, once.
inline void register_example_ops() {
  static const bool registered = [] {
    register_ops(
        {define<Gate>({.summary = "factor a / (1 + |b|) + c",
                       .operands = {{"a"}, {"b"}, {"c"}},
                       .traits = Trait::row_wise | Trait::elementwise},
                      []<typename T>(const Gate& node, RowOperands<T> in, std::span<T> out) {
                        // Twice through the row: the result must not overlap an operand.
                        for (std::size_t i = 0; i < out.size(); ++i)
                          out[i] = static_cast<T>(node.factor) * in[0][i];
                        for (std::size_t i = 0; i < out.size(); ++i)
                          out[i] = out[i] / (1 + std::abs(in[1][i])) + in[2][i];
                      }),
         define<Share>({.summary = "The share of a row's magnitudes.",
                        .operands = {{"x"}},
                        .traits = Trait::row_wise},
                       []<typename T>(const Share&, RowOperands<T> in, std::span<T> out) {
                         T sum = 0;
                         for (std::size_t i = 0; i < out.size(); ++i) sum += std::abs(in[0][i]);
                         for (std::size_t i = 0; i < out.size(); ++i) out[i] = in[0][i] / sum;
                       }),
         define<Square>({.summary = "x²",
                         .operands = {{"x"}},
                         .traits = Trait::row_wise | Trait::elementwise,
                         .infer = infer_row,
                         .evaluate_f32 = evaluate_square<float>,
                         .evaluate_f64 = evaluate_square<double>})});
    return true;
  }();
  (void)registered;
}

}  // namespace fuselage::support
