// Elementwise ops with one or two operands.

#include "fuselage/ops/pointwise.h"

#include <fmt/format.h>

#include <cmath>

#include "fuselage/ops/infer.h"
#include "ops/approximate_activations.h"
#include "ops/eigen_view.h"
#include "ops/sigmoid.h"

namespace fuselage {
namespace {

/// Both operands have the same dimensions, or one of them has one element per row (broadcast).
std::vector<Type> infer_binary(const InferContext& in) {
  expect_f32(in, 0);
  expect_f32(in, 1);
  const DomainId domain = common_domain(in);
  const Type& a = in.operand(0);
  const Type& b = in.operand(1);
  if (a.dims == b.dims || row_size(b) == 1) return {{DType::f32, domain, a.dims}};
  if (row_size(a) == 1) return {{DType::f32, domain, b.dims}};
  in.fail(fmt::format("dimensions differ: {} and {}", in.show(a), in.show(b)));
}

Cost cost_pointwise(const InferContext& in) {
  double size = 1;
  double bytes = 0;
  for (std::size_t i = 0; i < in.operand_count(); ++i) {
    const auto row = static_cast<double>(row_size(in.operand(i)));
    size = std::max(size, row);
    if (in.operand(i).domain != in.none()) bytes += 4 * row;
  }
  return {.flop = size, .bytes = bytes + 4 * size};
}

template <typename T, typename F>
void evaluate_binary(EvalContext<T>& context, F f) {
  Array<T>& out = context.results[0];
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const T* a = context.operand_row(0, r);
    const T* b = context.operand_row(1, r);
    const bool scalar_a = context.operands[0]->cols == 1;
    const bool scalar_b = context.operands[1]->cols == 1;
    for (std::int64_t c = 0; c < out.cols; ++c)
      out.row(r)[c] = f(a[scalar_a ? 0 : c], b[scalar_b ? 0 : c]);
  }
}

template <typename T, typename F>
void evaluate_unary(EvalContext<T>& context, F f) {
  const auto& in = context.operands[0]->data;
  std::transform(in.begin(), in.end(), context.results[0].data.begin(), f);
}

/// Defines an op by a generic lambda for float and double.
template <typename Op, typename F>
OpDef unary(std::string_view summary, Traits traits, F) {
  return define<Op>({.summary = summary,
                     .operands = {{"a"}},
                     .traits = traits,
                     .infer = same_as_first,
                     .cost = cost_pointwise,
                     .evaluate_f32 = [](EvalContext<float>& c) { evaluate_unary(c, F{}); },
                     .evaluate_f64 = [](EvalContext<double>& c) { evaluate_unary(c, F{}); }});
}

template <typename Op, typename F>
OpDef binary(std::string_view summary, Traits traits, F) {
  return define<Op>({.summary = summary,
                     .operands = {{"a"}, {"b"}},
                     .traits = traits,
                     .infer = infer_binary,
                     .cost = cost_pointwise,
                     .evaluate_f32 = [](EvalContext<float>& c) { evaluate_binary(c, F{}); },
                     .evaluate_f64 = [](EvalContext<double>& c) { evaluate_binary(c, F{}); }});
}

constexpr Traits kElementwise = Trait::row_wise | Trait::elementwise;
constexpr Traits kCommutative = kElementwise | Trait::commutative;

const OpDef kOps[] = {
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
    binary<op::Add>("a + b", kCommutative, [](auto a, auto b) { return a + b; }),
    binary<op::Sub>("a - b", kElementwise, [](auto a, auto b) { return a - b; }),
    binary<op::Mul>("a b, element by element", kCommutative, [](auto a, auto b) { return a * b; }),
    binary<op::Div>("a / b", kElementwise, [](auto a, auto b) { return a / b; }),
    // Not commutative: for NaN and zeros of both signs the operand order matters.
    binary<op::Max>("The larger of a and b.", kElementwise,
                    [](auto a, auto b) { return a > b ? a : b; }),
    binary<op::Min>("The smaller of a and b.", kElementwise,
                    [](auto a, auto b) { return a < b ? a : b; }),
};

}  // namespace

std::span<const OpDef> pointwise_ops() { return kOps; }

}  // namespace fuselage
