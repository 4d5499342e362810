// Softmax over the elements of a row.

#include "fuselage/ops/arithmetic/softmax.h"

#include <cmath>

#include "fuselage/ops/infer.h"
#include "ops/eigen_view.h"

namespace fuselage {
namespace {

Cost cost_softmax(const InferContext& in) {
  const auto n = static_cast<double>(row_size(in.operand(0)));
  return {.flop = 4 * n, .bytes = 8 * n};
}

template <typename T>
void evaluate_softmax(EvalContext<T>& context) {
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const RowArray<T> x = row_copy(context, 0, r);
    const RowArray<T> y = (x - x.maxCoeff()).exp();
    row_view(context.results[0], r) = y / y.sum();
  }
}

template <typename T>
void evaluate_log_softmax(EvalContext<T>& context) {
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const RowArray<T> x = row_copy(context, 0, r);
    const T max = x.maxCoeff();
    // Subtracting the maximum first keeps the small differences between large scores.
    row_view(context.results[0], r) = (x - max) - std::log((x - max).exp().sum());
  }
}

std::vector<Type> infer_log_sum_exp(const InferContext& in) {
  expect_vector(in, 0);
  return {{DType::f32, in.operand(0).domain, {1}}};
}

Cost cost_log_sum_exp(const InferContext& in) {
  const auto n = static_cast<double>(row_size(in.operand(0)));
  return {.flop = 3 * n, .bytes = 4 * (n + 1)};
}

template <typename T>
void evaluate_log_sum_exp(EvalContext<T>& context) {
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const RowArray<T> x = row_copy(context, 0, r);
    const T max = x.maxCoeff();
    // If all elements are -infinity, subtracting the maximum would give NaN.
    const T center = std::isinf(max) && max < 0 ? T{0} : max;
    context.results[0].row(r)[0] = std::log((x - center).exp().sum()) + center;
  }
}

}  // namespace

std::span<const OpDef> softmax_ops() {
  static const OpDef ops[] = {
      define<op::Softmax>({.summary = "exp(x) / sum exp(x), over a row.",
                           .operands = {{"x"}},
                           .traits = Trait::row_wise,
                           .infer = same_as_first,
                           .cost = cost_softmax,
                           .evaluate_f32 = evaluate_softmax<float>,
                           .evaluate_f64 = evaluate_softmax<double>}),
      define<op::LogSoftmax>({.summary = "x - log sum exp(x), over a row.",
                              .operands = {{"x"}},
                              .traits = Trait::row_wise,
                              .infer = same_as_first,
                              .cost = cost_softmax,
                              .evaluate_f32 = evaluate_log_softmax<float>,
                              .evaluate_f64 = evaluate_log_softmax<double>}),
      define<op::LogSumExp>({.summary = "log sum exp(x), over a row.",
                             .operands = {{"x"}},
                             .traits = Trait::row_wise,
                             .infer = infer_log_sum_exp,
                             .cost = cost_log_sum_exp,
                             .evaluate_f32 = evaluate_log_sum_exp<float>,
                             .evaluate_f64 = evaluate_log_sum_exp<double>}),
  };
  return ops;
}

}  // namespace fuselage
