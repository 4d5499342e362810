// Layer normalization (Ba et al. 2016, section 3.1) and RMS normalization (Zhang and Sennrich
// 2019).

#include "fuselage/ops/arithmetic/normalization.h"

#include "fuselage/ops/infer.h"
#include "ops/eigen_view.h"

namespace fuselage {
namespace {

std::vector<Type> infer_norm(const InferContext& in) {
  const std::int64_t length = expect_vector(in, 0);
  for (std::size_t i = 1; i < in.operand_count(); ++i) expect_gain(in, i, length);
  if (!(in.as<op::Epsilon>().epsilon > 0)) in.fail("epsilon must be positive");
  return {in.operand(0)};
}

Cost cost_norm(const InferContext& in) {
  const auto n = static_cast<double>(row_size(in.operand(0)));
  return {.flop = 8 * n, .bytes = 8 * n};
}

template <typename T>
void evaluate_layer_norm(EvalContext<T>& context) {
  const T epsilon = static_cast<T>(context.node.template as<op::Epsilon>().epsilon);
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const RowArray<T> x = row_copy(context, 0, r);
    auto y = row_view(context.results[0], r);
    const T mean = x.mean();
    const T variance = (x - mean).square().mean();
    y = (x - mean) / std::sqrt(variance + epsilon) * row_view(context, 1, 0);
    if (context.operands.size() > 2) y += row_view(context, 2, 0);
  }
}

template <typename T>
void evaluate_rms_norm(EvalContext<T>& context) {
  const T epsilon = static_cast<T>(context.node.template as<op::Epsilon>().epsilon);
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const RowArray<T> x = row_copy(context, 0, r);
    row_view(context.results[0], r) =
        x / std::sqrt(x.square().mean() + epsilon) * row_view(context, 1, 0);
  }
}

}  // namespace

std::span<const OpDef> normalization_ops() {
  static const OpDef ops[] = {
      define<op::LayerNorm>(
          {.summary = "gain (x - mean x) / sqrt(var x + epsilon) + bias, over a row.",
           .operands = {{"x"}, {"gain"}, {"bias", OperandSpec::Arity::optional}},
           .traits = Trait::row_wise,
           .infer = infer_norm,
           .cost = cost_norm,
           .evaluate_f32 = evaluate_layer_norm<float>,
           .evaluate_f64 = evaluate_layer_norm<double>}),
      define<op::RmsNorm>({.summary = "gain x / sqrt(mean x² + epsilon), over a row.",
                           .operands = {{"x"}, {"gain"}},
                           .traits = Trait::row_wise,
                           .infer = infer_norm,
                           .cost = cost_norm,
                           .evaluate_f32 = evaluate_rms_norm<float>,
                           .evaluate_f64 = evaluate_rms_norm<double>}),
  };
  return ops;
}

}  // namespace fuselage
