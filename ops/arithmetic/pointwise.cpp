// Elementwise ops with one to three operands.

#include "fuselage/ops/arithmetic/pointwise.h"

#include <cmath>

#include "fuselage/ops/row_function.h"
#include "ops/arithmetic/approximate_activations.h"
#include "ops/arithmetic/sigmoid.h"

namespace fuselage {
namespace {

/// Defines an op by a generic lambda for one element in float or double.
template <typename Op, typename F>
OpDef unary(std::string_view summary, Traits traits, F) {
  return define<Op>({.summary = summary, .operands = {{"a"}}, .traits = traits},
                    [](const Op&, auto in, auto out) {
                      for (std::size_t i = 0; i < out.size(); ++i) out[i] = F{}(in[0][i]);
                    });
}

template <typename Op, typename F>
OpDef binary(std::string_view summary, Traits traits, F) {
  return define<Op>({.summary = summary, .operands = {{"a"}, {"b"}}, .traits = traits},
                    [](const Op&, auto in, auto out) {
                      for (std::size_t i = 0; i < out.size(); ++i) out[i] = F{}(in[0][i], in[1][i]);
                    });
}

/// Defines a comparison by a generic lambda that gives a truth value.
template <typename Op, typename F>
OpDef comparison(std::string_view summary, Traits traits, F) {
  return binary<Op>(summary, traits, [](auto a, auto b) { return decltype(a)(F{}(a, b) ? 1 : 0); });
}

OpDef where() {
  return define<op::Where>({.summary = "a where the condition is not 0, else b.",
                            .operands = {{"condition"}, {"a"}, {"b"}},
                            .traits = Trait::row_wise | Trait::elementwise},
                           [](const op::Where&, auto in, auto out) {
                             for (std::size_t i = 0; i < out.size(); ++i)
                               out[i] = in[0][i] != 0 ? in[1][i] : in[2][i];
                           });
}

constexpr Traits kElementwise = Trait::row_wise | Trait::elementwise;
constexpr Traits kCommutative = kElementwise | Trait::commutative;

}  // namespace

std::span<const OpDef> pointwise_ops() {
  static const OpDef ops[] = {
      unary<op::Neg>("-a", kElementwise | Trait::linear, [](auto a) { return -a; }),
      unary<op::Sigmoid>("1 / (1 + exp(-a))", kElementwise, [](auto a) { return sigmoid(a); }),
      unary<op::Tanh>("Hyperbolic tangent.", kElementwise, [](auto a) { return std::tanh(a); }),
      unary<op::SigmoidFast>("sigmoid to within 2.9e-5: a quotient of polynomials", kElementwise,
                             [](auto a) { return sigmoid_fast(a); }),
      unary<op::TanhFast>("tanh to within 5.7e-5: a quotient of polynomials", kElementwise,
                          [](auto a) { return tanh_fast(a); }),
      unary<op::SigmoidTable>("sigmoid to within 4.9e-4: lines between 32 points", kElementwise,
                              [](auto a) { return sigmoid_table(a); }),
      unary<op::TanhTable>("tanh to within 9.8e-4: 2 sigmoid_table(2 a) - 1", kElementwise,
                           [](auto a) { return tanh_table(a); }),
      unary<op::Relu>("max(a, 0)", kElementwise, [](auto a) { return a > 0 ? a : 0; }),
      unary<op::Swish>("a sigmoid(a)", kElementwise, [](auto a) { return a * sigmoid(a); }),
      unary<op::Gelu>("a Φ(a), by the error function", kElementwise,
                      [](auto a) { return a / 2 * (1 + std::erf(a / std::sqrt(decltype(a){2}))); }),
      unary<op::Exp>("Exponential.", kElementwise, [](auto a) { return std::exp(a); }),
      unary<op::Log>("Natural logarithm.", kElementwise, [](auto a) { return std::log(a); }),
      unary<op::Sqrt>("Square root.", kElementwise, [](auto a) { return std::sqrt(a); }),
      unary<op::Abs>("Absolute value.", kElementwise, [](auto a) { return std::abs(a); }),
      unary<op::Sin>("Sine of an angle in radians.", kElementwise,
                     [](auto a) { return std::sin(a); }),
      unary<op::Cos>("Cosine of an angle in radians.", kElementwise,
                     [](auto a) { return std::cos(a); }),
      binary<op::Add>("a + b", kCommutative, [](auto a, auto b) { return a + b; }),
      binary<op::Sub>("a - b", kElementwise, [](auto a, auto b) { return a - b; }),
      binary<op::Mul>("a b, element by element", kCommutative,
                      [](auto a, auto b) { return a * b; }),
      binary<op::Div>("a / b", kElementwise, [](auto a, auto b) { return a / b; }),
      // Not commutative: for NaN and zeros of both signs the operand order matters.
      binary<op::Max>("The larger of a and b.", kElementwise,
                      [](auto a, auto b) { return a > b ? a : b; }),
      binary<op::Min>("The smaller of a and b.", kElementwise,
                      [](auto a, auto b) { return a < b ? a : b; }),
      comparison<op::Equal>("1 where a == b, else 0.", kCommutative,
                            [](auto a, auto b) { return a == b; }),
      comparison<op::NotEqual>("1 where a != b, else 0.", kCommutative,
                               [](auto a, auto b) { return a != b; }),
      comparison<op::Less>("1 where a < b, else 0.", kElementwise,
                           [](auto a, auto b) { return a < b; }),
      comparison<op::LessEqual>("1 where a <= b, else 0.", kElementwise,
                                [](auto a, auto b) { return a <= b; }),
      comparison<op::Greater>("1 where a > b, else 0.", kElementwise,
                              [](auto a, auto b) { return a > b; }),
      comparison<op::GreaterEqual>("1 where a >= b, else 0.", kElementwise,
                                   [](auto a, auto b) { return a >= b; }),
      where(),
  };
  return ops;
}

}  // namespace fuselage
