// Scores of multi-head attention (Vaswani et al. 2017, section 3.2).

#include "ops/evaluate.h"
#include "ops/families.h"
#include "ops/infer.h"

namespace fuselage {
namespace {

std::vector<Type> infer_head_dot(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  const auto heads = in.attr<std::int64_t>("heads");
  if (expect_vector(in, 1) != width)
    in.fail(
        fmt::format("widths differ: {} and {}", in.show(in.operand(0)), in.show(in.operand(1))));
  if (heads <= 0 || width % heads != 0)
    in.fail(fmt::format("{} cannot be cut into {} heads", in.show(in.operand(0)), heads));
  return {{DType::f32, common_domain(in), {heads}}};
}

Cost cost_head_dot(const InferContext& in) {
  const auto n = static_cast<double>(row_size(in.operand(0)));
  return {.flop = 2 * n, .bytes = 8 * n};
}

template <typename T>
void evaluate_head_dot(EvalContext<T>& context) {
  Array<T>& out = context.results[0];
  const T scale = static_cast<T>(context.node.template attr<double>("scale"));
  const std::int64_t head_width = context.operands[0]->cols / out.cols;
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const T* a = context.operand_row(0, r);
    const T* b = context.operand_row(1, r);
    for (std::int64_t h = 0; h < out.cols; ++h) {
      T sum = 0;
      for (std::int64_t c = h * head_width; c < (h + 1) * head_width; ++c) sum += a[c] * b[c];
      out.row(r)[h] = sum * scale;
    }
  }
}

const OpDef kOps[] = {
    {.name = "head_dot",
     .summary = "scale × dot product of a and b within each of `heads` contiguous slices.",
     .operands = {{"a"}, {"b"}},
     .attributes = {{"heads", AttrKind::integer}, {"scale", AttrKind::real, 1.0}},
     .traits = static_cast<std::uint32_t>(Trait::row_wise),
     .infer = infer_head_dot,
     .cost = cost_head_dot,
     .evaluate_f32 = evaluate_head_dot<float>,
     .evaluate_f64 = evaluate_head_dot<double>},
};

}  // namespace

std::span<const OpDef> attention_ops() { return kOps; }

}  // namespace fuselage
