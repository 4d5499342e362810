// Dot-product attention (Vaswani et al. 2017, section 3.2) and additive attention (Bahdanau et al.
// 2015, appendix A.1.2).

#include "fuselage/ops/fused/attention.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/decompose.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

std::vector<Type> infer_head_dot(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  const auto heads = in.as<op::HeadDot>().heads;
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
  const T scale = static_cast<T>(context.node.template as<op::HeadDot>().scale);
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

/// tanh(q + k) computed from exp(q) and exp(k).
ValueId tanh_of_factors(Decomposition& in, ValueId query, ValueId key) {
  const auto number = [&in](double value) { return in.add(op::Constant{.values = {value}}); };
  const ValueId root = in.add(op::Mul{}, {query, key});
  const ValueId denominator = in.add(op::Add{}, {in.add(op::Mul{}, {root, root}), number(1)});
  return in.add(op::Sub{}, {number(1), in.add(op::Div{}, {number(2), denominator})});
}

std::vector<ValueId> decompose_additive_attention(Decomposition& in) {
  const auto [left, right] = in.as<op::PairMembers>();
  const ValueId query = in.add(op::SelectRows{.via = left}, {in.operands()[0]});
  const ValueId key = in.add(op::SelectRows{.via = right}, {in.operands()[1]});
  const ValueId score = in.add(op::Matmul{}, {tanh_of_factors(in, query, key), in.operands()[2]});
  const ValueId weights = in.add(op::SegmentSoftmax{.to = left}, {score});
  return {weights, in.add(op::MixRows{.to = left, .via = right}, {weights, in.operands()[3]})};
}

/// An operand's rows as f32 vectors. Quantized rows may have a vector for each head.
ValueId real_vectors(Decomposition& in, std::size_t operand) {
  const ValueId value = in.operands()[operand];
  const Type& type = in.type(operand);
  if (is_half(type.dtype)) return in.add(op::Cast{.to = DType::f32}, {value});
  if (!is_quantized(type.dtype)) return value;
  const std::int64_t width = row_size(type);
  const ValueId numbers = in.add(op::Dequantize{}, {value});
  return in.add(op::Reshape{.dims = {width}}, {numbers});
}

/// The scores with their bias, if the node has one.
ValueId biased(Decomposition& in, ValueId score) {
  constexpr std::size_t kBias = 3;
  if (in.operands().size() <= kBias) return score;
  const Graph& graph = in.graph();
  const Type& type = graph.value(score).type;
  if (in.type(kBias) != type)
    in.fail(fmt::format("its bias must be {}, a number for each head of a pair, not {}",
                        graph.show(type), graph.show(in.type(kBias))));
  return in.add(op::Add{}, {score, in.operands()[kBias]});
}

std::vector<ValueId> decompose_dot_attention(Decomposition& in) {
  const auto [left, right] = in.as<op::PairMembers>();
  const auto [heads, scale] = in.as<op::Heads>();
  const ValueId query = in.add(op::SelectRows{.via = left}, {real_vectors(in, 0)});
  const ValueId key = in.add(op::SelectRows{.via = right}, {real_vectors(in, 1)});
  const ValueId score = in.add(op::HeadDot{.heads = heads, .scale = scale}, {query, key});
  const ValueId weights = in.add(op::SegmentSoftmax{.to = left}, {biased(in, score)});
  return {weights, in.add(op::MixRows{.to = left, .via = right}, {weights, real_vectors(in, 2)})};
}

}  // namespace

std::span<const OpDef> attention_ops() {
  static const OpDef ops[] = {
      define<op::HeadDot>(
          {.summary = "scale × (a_h · b_h), for each slice h of `heads` equal slices of a row.",
           .operands = {{"a"}, {"b"}},
           .traits = Trait::row_wise,
           .infer = infer_head_dot,
           .cost = cost_head_dot,
           .evaluate_f32 = evaluate_head_dot<float>,
           .evaluate_f64 = evaluate_head_dot<double>}),
      define<op::DotAttention>(
          {.summary = "w = softmax over the pairs of a left row of scale × (query · key) + bias, "
                      "for each head; results: w, and the sum of w × value over these pairs. "
                      "Query, keys and values may be quantized, with a vector for each head, or "
                      "16-bit floats; bias has a number for each head of a pair.",
           .operands = {{.name = "query", .through = "left"},
                        {.name = "keys", .through = "right"},
                        {"values"},
                        {"bias", OperandSpec::Arity::optional}},
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_dot_attention}),
      define<op::AdditiveAttention>(
          {.summary = "w = softmax over the pairs of a left row of v · tanh(q + k), with operands "
                      "exp(q) and exp(k); results: w, and the sum of w × value over these pairs.",
           .operands = {{.name = "exp_query", .through = "left"},
                        {.name = "exp_keys", .through = "right"},
                        {"v"},
                        {"values"}},
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_additive_attention}),
  };
  return ops;
}

}  // namespace fuselage
