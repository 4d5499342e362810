// The output layer as one node.

#include "ops/decompose.h"
#include "ops/families.h"
#include "ops/infer.h"

namespace fuselage {
namespace {

/// Words are in the order of the logits, also where several have one score after rounding. In a row
/// without a finite log-sum-exp no word is better than another, as all its log-probabilities are
/// NaN: 0 * log_sum_exp, else 0, says so to the ranking.
std::vector<ValueId> decompose_linear_k_best(Decomposition& node) {
  const auto& operands = node.operands();
  const auto k = node.attr<std::int64_t>("k");
  ValueId logits = node.add("matmul", {operands[0], operands[1]},
                            {{"transposed", node.attr<bool>("transposed")}});
  if (operands.size() > 2) logits = node.add("add", {logits, operands[2]});
  if (!node.attr<bool>("log_softmax")) {
    const NodeId best = node.add_node("k_best", {logits}, {{"k", k}});
    return {node.graph().result(best, 0), node.graph().result(best, 1)};
  }
  const ValueId zero = node.add("constant", {}, {{"values", std::vector<double>{0}}});
  const ValueId ranked =
      node.add("add", {logits, node.add("mul", {node.add("log_sum_exp", {logits}), zero})});
  const NodeId words = node.add_node("k_best", {ranked}, {{"k", k}});
  const ValueId scores = node.add("k_best", {node.add("log_softmax", {logits})}, {{"k", k}});
  return {scores, node.graph().result(words, 1)};
}

const OpDef kOps[] = {
    {.name = "linear_k_best",
     .summary = "The k largest elements of x W + b and where they stand, as log-probabilities "
                "unless log_softmax is false; ties go to the lower index.",
     .operands = {{"x"}, {"w"}, {"bias", OperandSpec::Arity::optional}},
     .attributes = {{"k", AttrKind::integer},
                    {"transposed", AttrKind::boolean, false},
                    {"log_softmax", AttrKind::boolean, true}},
     .traits = static_cast<std::uint32_t>(Trait::row_wise),
     .infer = infer_decomposed,
     .cost = cost_decomposed,
     .evaluate_f32 = evaluate_decomposed<float>,
     .evaluate_f64 = evaluate_decomposed<double>,
     .decompose = decompose_linear_k_best},
};

}  // namespace

std::span<const OpDef> output_ops() { return kOps; }

}  // namespace fuselage
