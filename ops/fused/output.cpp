// Fused output layers.

#include "fuselage/ops/fused/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/decompose.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

ValueId number(Decomposition& node, double value) {
  return node.add(op::Constant{.values = {value}});
}

/// x W + b.
ValueId logits_of(Decomposition& node, const MemberOperands& member) {
  const auto& operands = node.operands();
  const ValueId product = node.add(op::Matmul{.transposed = member.transposed},
                                   {operands[member.x], operands[member.w]});
  return member.bias ? node.add(op::Add{}, {product, operands[*member.bias]}) : product;
}

/// The operand number of the bias of an op for one model.
std::optional<std::size_t> bias_of(const Decomposition& node) {
  return node.operands().size() > 2 ? std::optional<std::size_t>(2) : std::nullopt;
}

/// Words are ranked by their logits, even if several scores are equal after rounding. In a row
/// without a finite log-sum-exp all log-probabilities are NaN and no word is better than another:
/// adding 0 * log_sum_exp, otherwise 0, makes the ranking see that.
std::vector<ValueId> decompose_linear_k_best(Decomposition& node) {
  const auto [k, transposed, log_softmax, normalizer] = node.as<op::LinearKBest>();
  if (normalizer && !log_softmax) node.fail("only log-probabilities have a normalizer");
  const ValueId logits =
      logits_of(node, {.transposed = transposed, .x = 0, .w = 1, .bias = bias_of(node)});
  if (!log_softmax) {
    const NodeId best = node.add_node(op::KBest{.k = k}, {logits});
    return {node.graph().result(best, 0), node.graph().result(best, 1)};
  }
  const ValueId log_sum = node.add(op::LogSumExp{}, {logits});
  const ValueId ranked =
      node.add(op::Add{}, {logits, node.add(op::Mul{}, {log_sum, number(node, 0)})});
  const NodeId words = node.add_node(op::KBest{.k = k}, {ranked});
  const ValueId scores = node.add(op::KBest{.k = k}, {node.add(op::LogSoftmax{}, {logits})});
  std::vector<ValueId> results{scores, node.graph().result(words, 1)};
  if (normalizer) results.push_back(log_sum);
  return results;
}

/// The logits of the words of each row's shortlist.
ValueId sampled_logits(Decomposition& node, const MapPath& to, const MapPath& words,
                       bool transposed) {
  const ValueId all =
      logits_of(node, {.transposed = transposed, .x = 0, .w = 1, .bias = bias_of(node)});
  return node.add(op::SelectElements{.row = to, .element = words}, {all});
}

std::vector<ValueId> decompose_sampled_matmul(Decomposition& node) {
  const auto product = node.as<op::SampledMatmul>();
  return {sampled_logits(node, product.to, product.words, product.transposed)};
}

/// The same for the words of each row's shortlist. A single log-probability may be -infinity; 0
/// times it is NaN, which ranks like -infinity.
std::vector<ValueId> decompose_shortlist_k_best(Decomposition& node) {
  const auto layer = node.as<op::ShortlistKBest>();
  const auto best_of = [&](ValueId scores) {
    return node.add_node(op::SegmentKBest{.k = layer.k, .to = layer.to, .words = layer.words},
                         {scores});
  };
  const ValueId logits = sampled_logits(node, layer.to, layer.words, layer.transposed);
  if (!layer.log_softmax) {
    const NodeId best = best_of(logits);
    return {node.graph().result(best, 0), node.graph().result(best, 1)};
  }
  const ValueId scores = node.add(op::SegmentLogSoftmax{.to = layer.to}, {logits});
  const ValueId ranked =
      node.add(op::Add{}, {logits, node.add(op::Mul{}, {scores, number(node, 0)})});
  const NodeId ranking = best_of(ranked);
  return {node.graph().result(best_of(scores), 0), node.graph().result(ranking, 1)};
}

// --- Ensembles ---

void check_flags(const Decomposition& node, std::string_view name, const Dims& flags,
                 std::size_t members) {
  if (!flags.empty() && flags.size() != members)
    node.fail(fmt::format("{} has {} entries for {} weights", name, flags.size(), members));
  for (const std::int64_t flag : flags)
    if (flag != 0 && flag != 1) node.fail(fmt::format("{} has {}, not 0 or 1", name, flag));
}

/// The node's members. Throws Error if its attributes and operands do not fit.
std::vector<MemberOperands> checked_members(const Decomposition& node) {
  const auto ensemble = node.as<op::EnsembleKBest>();
  const std::vector<double>& weights = ensemble.weights;
  if (weights.empty()) node.fail("it has no members; give a weight for each");
  for (const double weight : weights)
    if (!std::isfinite(weight) || weight < 0)
      node.fail(fmt::format("weights must be finite and not negative, not {}", weight));
  check_flags(node, "biased", ensemble.biased, weights.size());
  check_flags(node, "transposed", ensemble.transposed, weights.size());
  auto members = ensemble_members(ensemble);
  const std::size_t wanted = members.back().bias.value_or(members.back().w) + 1;
  if (node.operands().size() != wanted)
    node.fail(fmt::format("its members have {} operands, but there are {}", wanted,
                          node.operands().size()));
  return members;
}

/// Adds `weight` times `value` to `sum`, which may be invalid (empty).
void accumulate(Decomposition& node, ValueId& sum, double weight, ValueId value) {
  if (weight != 1) value = node.add(op::Mul{}, {value, number(node, weight)});
  sum = sum.valid() ? node.add(op::Add{}, {sum, value}) : value;
}

/// Words are ranked by the weighted sum of the logits. As in log_softmax, the weighted maxima are
/// subtracted from the sum first, then the weighted logarithms of the sums of exponentials. Both
/// are one number per row. If they are not finite, no word is better than another.
std::vector<ValueId> decompose_ensemble_k_best(Decomposition& node) {
  ValueId logits, tops, logs;
  Dims columns;
  for (const MemberOperands& member : checked_members(node)) {
    const ValueId own = logits_of(node, member);
    const Dims dims = node.graph().value(own).type.dims;
    if (columns.empty()) columns = dims;
    if (dims != columns)
      node.fail(fmt::format("one member gives {} and another {}",
                            node.graph().show({DType::f32, node.graph().none(), columns}),
                            node.graph().show({DType::f32, node.graph().none(), dims})));
    const ValueId top = node.add(op::KBest{.k = 1}, {own});
    accumulate(node, logits, member.weight, own);
    accumulate(node, tops, member.weight, top);
    accumulate(node, logs, member.weight,
               node.add(op::LogSumExp{}, {node.add(op::Sub{}, {own, top})}));
  }
  const ValueId finite = node.add(op::Mul{}, {node.add(op::Add{}, {tops, logs}), number(node, 0)});
  const ValueId ranked = node.add(op::Add{}, {logits, finite});
  const ValueId scores = node.add(op::Sub{}, {node.add(op::Sub{}, {ranked, tops}), logs});
  const std::int64_t k = node.as<op::EnsembleKBest>().k;
  const NodeId words = node.add_node(op::KBest{.k = k}, {ranked});
  return {node.add(op::KBest{.k = k}, {scores}), node.graph().result(words, 1)};
}

}  // namespace

std::vector<MemberOperands> ensemble_members(const op::EnsembleKBest& ensemble) {
  const auto has = [](const Dims& flags, std::size_t i) { return !flags.empty() && flags[i] != 0; };
  std::vector<MemberOperands> members;
  std::size_t next = 0;
  for (std::size_t i = 0; i < ensemble.weights.size(); ++i) {
    MemberOperands& member = members.emplace_back();
    member = {.weight = ensemble.weights[i],
              .transposed = has(ensemble.transposed, i),
              .x = next,
              .w = next + 1};
    next += 2;
    if (has(ensemble.biased, i)) member.bias = next++;
  }
  return members;
}

std::span<const OpDef> output_ops() {
  static const OpDef ops[] = {
      define<op::LinearKBest>(
          {.summary = "k_best(log_softmax(x W + b)), or k_best(x W + b) if log_softmax is false: "
                      "the k largest elements and their indexes; ties go to the lower index. With "
                      "normalizer, a third result is log_sum_exp(x W + b).",
           .operands = {{"x"}, {"w"}, {"bias", OperandSpec::Arity::optional}},
           .traits = Trait::row_wise,
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_linear_k_best}),
      define<op::ShortlistKBest>(
          {.summary = "k_best(log_softmax(x W + b)) over the words of the sentence's shortlist, or "
                      "without log_softmax if it is false: the k largest and their words; ties go "
                      "to the lower pair. Missing results are -inf and -1.",
           .operands = {{"x"}, {"w"}, {"bias", OperandSpec::Arity::optional}},
           .infer = infer_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_shortlist_k_best}),
      define<op::SampledMatmul>(
          {.summary = "y(p) = (x(to(p)) W + b)[words(p)]: the elements of a product, with an "
                      "optional bias, for some pairs of a row and a column.",
           .operands = {{"x"}, {"w"}, {"bias", OperandSpec::Arity::optional}},
           .infer = infer_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_sampled_matmul}),
      define<op::EnsembleKBest>(
          {.summary =
               "k_best(Σ weight × log_softmax(x W + b)), a term for each member of an ensemble: "
               "the k largest elements and their indexes; ties go to the lower index.",
           .operands = {{"member", OperandSpec::Arity::repeated}},
           .traits = Trait::row_wise,
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_ensemble_k_best}),
  };
  return ops;
}

}  // namespace fuselage
