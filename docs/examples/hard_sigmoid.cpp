#include <algorithm>
#include <string>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {

namespace op {

/// clamp(slope x + 1/2, 0, 1), element by element.
struct HardSigmoid {
  static constexpr std::string_view kName = "hard_sigmoid";
  double slope = 0.25;
  static constexpr auto attributes() { return std::tuple(defaulted("slope", &HardSigmoid::slope)); }
};

}  // namespace op

namespace {

std::vector<Type> infer_hard_sigmoid(const InferContext& in) {
  expect_f32(in, 0);
  if (const double slope = in.as<op::HardSigmoid>().slope; !(slope > 0))
    in.fail("its slope must be positive, not " + std::to_string(slope));
  return {in.operand(0)};
}

template <typename T>
void evaluate_hard_sigmoid(EvalContext<T>& context) {
  const T slope = static_cast<T>(context.node.template as<op::HardSigmoid>().slope);
  const auto& x = context.operands[0]->data;
  std::transform(x.begin(), x.end(), context.results[0].data.begin(),
                 [slope](T value) { return std::clamp<T>(slope * value + T{0.5}, 0, 1); });
}

const OpDef kOps[] = {
    define<op::HardSigmoid>({.summary = "clamp(slope x + 1/2, 0, 1), element by element.",
                             .operands = {{"x"}},
                             .traits = Trait::row_wise,
                             .infer = infer_hard_sigmoid,
                             .evaluate_f32 = evaluate_hard_sigmoid<float>,
                             .evaluate_f64 = evaluate_hard_sigmoid<double>}),
};

}  // namespace

std::span<const OpDef> hard_sigmoid_ops() { return kOps; }

}  // namespace fuselage
