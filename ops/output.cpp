// Output layers as one node.

#include "ops/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/decompose.h"
#include "ops/families.h"
#include "ops/infer.h"

namespace fuselage {
namespace {

ValueId number(Decomposition& node, double value) {
  return node.add("constant", {}, {{"values", std::vector<double>{value}}});
}

/// x W + b.
ValueId logits_of(Decomposition& node, const MemberOperands& member) {
  const auto& operands = node.operands();
  const ValueId product = node.add("matmul", {operands[member.x], operands[member.w]},
                                   {{"transposed", member.transposed}});
  return member.bias ? node.add("add", {product, operands[*member.bias]}) : product;
}

/// Those of an op for one model.
ValueId logits_of(Decomposition& node) {
  MemberOperands only{.transposed = node.attr<bool>("transposed"), .x = 0, .w = 1};
  if (node.operands().size() > 2) only.bias = 2;
  return logits_of(node, only);
}

/// Words are in the order of the logits, also where several have one score after rounding. In a row
/// without a finite log-sum-exp no word is better than another, as all its log-probabilities are
/// NaN: 0 * log_sum_exp, else 0, says so to the ranking.
std::vector<ValueId> decompose_linear_k_best(Decomposition& node) {
  const auto k = node.attr<std::int64_t>("k");
  const ValueId logits = logits_of(node);
  if (!node.attr<bool>("log_softmax")) {
    const NodeId best = node.add_node("k_best", {logits}, {{"k", k}});
    return {node.graph().result(best, 0), node.graph().result(best, 1)};
  }
  const ValueId ranked = node.add(
      "add", {logits, node.add("mul", {node.add("log_sum_exp", {logits}), number(node, 0)})});
  const NodeId words = node.add_node("k_best", {ranked}, {{"k", k}});
  const ValueId scores = node.add("k_best", {node.add("log_softmax", {logits})}, {{"k", k}});
  return {scores, node.graph().result(words, 1)};
}

/// The same for the words of each row's shortlist, of which a log-probability may be -infinity by
/// itself: 0 times that is NaN, which ranks as -infinity does.
std::vector<ValueId> decompose_shortlist_k_best(Decomposition& node) {
  const auto& to = node.attr<MapPath>("to");
  const auto& words = node.attr<MapPath>("words");
  const auto best_of = [&](ValueId scores) {
    return node.add_node("segment_k_best", {scores},
                         {{"k", node.attr<std::int64_t>("k")}, {"to", to}, {"words", words}});
  };
  const ValueId logits =
      node.add("select_elements", {logits_of(node)}, {{"row", to}, {"element", words}});
  if (!node.attr<bool>("log_softmax")) {
    const NodeId best = best_of(logits);
    return {node.graph().result(best, 0), node.graph().result(best, 1)};
  }
  const ValueId scores = node.add("segment_log_softmax", {logits}, {{"to", to}});
  const ValueId ranked = node.add("add", {logits, node.add("mul", {scores, number(node, 0)})});
  const NodeId ranking = best_of(ranked);
  return {node.graph().result(best_of(scores), 0), node.graph().result(ranking, 1)};
}

// --- Ensembles ---

void check_flags(const Decomposition& node, std::string_view name, std::size_t members) {
  const auto& flags = node.attr<Dims>(name);
  if (!flags.empty() && flags.size() != members)
    node.fail(fmt::format("{} has {} entries for {} weights", name, flags.size(), members));
  for (const std::int64_t flag : flags)
    if (flag != 0 && flag != 1) node.fail(fmt::format("{} has {}, not 0 or 1", name, flag));
}

/// The node's members. Throws Error where its attributes and operands do not fit.
std::vector<MemberOperands> checked_members(const Decomposition& node) {
  const auto& weights = node.attr<std::vector<double>>("weights");
  if (weights.empty()) node.fail("it has no members; give a weight for each");
  for (const double weight : weights)
    if (!std::isfinite(weight) || weight < 0)
      node.fail(fmt::format("weights must be finite and not negative, not {}", weight));
  check_flags(node, "biased", weights.size());
  check_flags(node, "transposed", weights.size());
  auto members =
      ensemble_members(weights, node.attr<Dims>("biased"), node.attr<Dims>("transposed"));
  const std::size_t wanted = members.back().bias.value_or(members.back().w) + 1;
  if (node.operands().size() != wanted)
    node.fail(fmt::format("its members have {} operands, but there are {}", wanted,
                          node.operands().size()));
  return members;
}

/// Adds `weight` times `value` to `sum`, which is invalid at first.
void accumulate(Decomposition& node, ValueId& sum, double weight, ValueId value) {
  if (weight != 1) value = node.add("mul", {value, number(node, weight)});
  sum = sum.valid() ? node.add("add", {sum, value}) : value;
}

/// Words are in the order of the weighted sum of the logits. From that sum, as log_softmax does,
/// first the largest logits are subtracted and then the logarithms of what is left, weighted too.
/// Both are one number a row. Where they are not finite, no word is better than another.
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
    const ValueId top = node.add("k_best", {own}, {{"k", std::int64_t{1}}});
    accumulate(node, logits, member.weight, own);
    accumulate(node, tops, member.weight, top);
    accumulate(node, logs, member.weight, node.add("log_sum_exp", {node.add("sub", {own, top})}));
  }
  const ValueId finite = node.add("mul", {node.add("add", {tops, logs}), number(node, 0)});
  const ValueId ranked = node.add("add", {logits, finite});
  const ValueId scores = node.add("sub", {node.add("sub", {ranked, tops}), logs});
  const auto k = node.attr<std::int64_t>("k");
  const NodeId words = node.add_node("k_best", {ranked}, {{"k", k}});
  return {node.add("k_best", {scores}, {{"k", k}}), node.graph().result(words, 1)};
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
    {.name = "shortlist_k_best",
     .summary =
         "The k largest elements of x W + b among those where `words` leads from the pairs of "
         "a row, and where that is, as log-probabilities unless log_softmax is false; ties "
         "go to the lower pair, and what is missing is -inf and -1.",
     .operands = {{"x"}, {"w"}, {"bias", OperandSpec::Arity::optional}},
     .attributes = {{"k", AttrKind::integer},
                    {"to", AttrKind::path},
                    {"words", AttrKind::path},
                    {"transposed", AttrKind::boolean, false},
                    {"log_softmax", AttrKind::boolean, true}},
     .infer = infer_decomposed,
     .evaluate_f32 = evaluate_decomposed<float>,
     .evaluate_f64 = evaluate_decomposed<double>,
     .decompose = decompose_shortlist_k_best},
    {.name = "ensemble_k_best",
     .summary = "The k largest elements of the weighted sum of several models' log-probabilities, "
                "those of x W + b each, and where they stand; ties go to the lower index.",
     .operands = {{"member", OperandSpec::Arity::repeated}},
     .attributes = {{"k", AttrKind::integer},
                    {"weights", AttrKind::reals},
                    {"biased", AttrKind::dims, Dims{}},
                    {"transposed", AttrKind::dims, Dims{}}},
     .traits = static_cast<std::uint32_t>(Trait::row_wise),
     .infer = infer_decomposed,
     .cost = cost_decomposed,
     .evaluate_f32 = evaluate_decomposed<float>,
     .evaluate_f64 = evaluate_decomposed<double>,
     .decompose = decompose_ensemble_k_best},
};

}  // namespace

std::vector<MemberOperands> ensemble_members(const std::vector<double>& weights, const Dims& biased,
                                             const Dims& transposed) {
  const auto has = [](const Dims& flags, std::size_t i) { return !flags.empty() && flags[i] != 0; };
  std::vector<MemberOperands> members;
  std::size_t next = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    MemberOperands& member = members.emplace_back();
    member = {.weight = weights[i], .transposed = has(transposed, i), .x = next, .w = next + 1};
    next += 2;
    if (has(biased, i)) member.bias = next++;
  }
  return members;
}

std::vector<MemberOperands> ensemble_members(const Node& node) {
  return ensemble_members(node.attr<std::vector<double>>("weights"), node.attr<Dims>("biased"),
                          node.attr<Dims>("transposed"));
}

std::span<const OpDef> output_ops() { return kOps; }

}  // namespace fuselage
