#include "passes/fusion/fuse_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

constexpr Capture kWeights{"weights"}, kValues{"values"}, kV{"v"}, kQueries{"query"}, kKey{"key"},
    kScore{"score"}, kPairBias{"bias"};

/// For x up to this bound both exp(x) and exp(-x) are normal floats.
constexpr double kLargest = 87;

/// The rest of a selection's path after the prefix `path`; nullopt if it has another prefix.
std::optional<MapPath> rest_of_path(const Match& match, Capture selection, const MapPath& path) {
  const auto via = match.node(selection).as<op::SelectRows>().via;
  if (via.size() < path.size() || !std::equal(path.begin(), path.end(), via.begin()))
    return std::nullopt;
  return MapPath(via.begin() + static_cast<std::ptrdiff_t>(path.size()), via.end());
}

MapPath left_path(const Match& match) { return match.root_node().as<op::MixRows>().to; }
MapPath right_path(const Match& match) { return match.root_node().as<op::MixRows>().via; }

/// The query comes from the left member of each pair, the key from the right.
std::optional<std::string> other_paths(const Match& match) {
  if (rest_of_path(match, kQueries, left_path(match)) &&
      rest_of_path(match, kKey, right_path(match)))
    return std::nullopt;
  return "the score does not come from the query and the key whose values are mixed";
}

std::optional<std::string> default_rows(const Match& match) {
  const Graph& graph = match.graph();
  for (const Capture selection : {kQueries, kKey}) {
    const Node& select = match.node(selection);
    if (select.operands.size() > 1 || graph.is_partial(select.as<op::SelectRows>().via))
      return fmt::format("{} has a default row", graph.describe(select));
  }
  return std::nullopt;
}

/// The values of a mixture may depend on another mixture with the same weights.
std::optional<std::string> values_after_weights(const Match& match) {
  const Graph& graph = match.graph();
  const std::vector<bool> before = reachable(graph, {graph.value(match[kValues]).producer});
  if (!before[graph.value(match[kWeights]).producer.index]) return std::nullopt;
  return "the values come after the weights";
}

/// Computes an operand of the fused node from a query or key, before its rows are selected.
using Prepare = ValueId (*)(Rewriter&, ValueId);

/// The query or key of each left or right member of the pairs.
ValueId member(Rewriter& rewriter, const Match& match, Capture selection, const MapPath& side,
               Prepare prepare) {
  const MapPath rest = rest_of_path(match, selection, side).value();
  const ValueId x = prepare(rewriter, match.node(selection).operands[0]);
  return rest.empty() ? x : rewriter.add(op::SelectRows{.via = rest}, {x});
}

/// Replaces weights and mixture by the op `attention` of query, key and `more`.
template <OpStruct Op>
void replace_by_attention(Rewriter& rewriter, const Match& match, Op attention, Prepare prepare,
                          const std::vector<ValueId>& more) {
  attention.left = left_path(match);
  attention.right = right_path(match);
  const ValueId weights = match[kWeights];
  std::vector<ValueId> operands{member(rewriter, match, kQueries, attention.left, prepare),
                                member(rewriter, match, kKey, attention.right, prepare)};
  operands.insert(operands.end(), more.begin(), more.end());
  const NodeId fused = rewriter.add_node(attention, std::move(operands));
  rewriter.replace(weights, rewriter.graph().result(fused, 0));
  rewriter.replace(match.result(), rewriter.graph().result(fused, 1));
}

// --- Additive attention ---

/// exp(x) with x clamped, so that the product of two factors is finite.
ValueId factor(Rewriter& rewriter, ValueId x) {
  const auto number = [&rewriter](double value) {
    return rewriter.add(op::Constant{.values = {value}});
  };
  // Max returns its second operand if that is NaN.
  const ValueId above = rewriter.add(op::Max{}, {number(-kLargest), x});
  return rewriter.add(op::Exp{}, {rewriter.add(op::Min{}, {number(kLargest), above})});
}

void fuse_additive(Rewriter& rewriter, const Match& match) {
  replace_by_attention(rewriter, match, op::AdditiveAttention{}, factor,
                       {match[kV], match[kValues]});
}

/// A selection through a map of kind `kind`.
Pattern selected(Capture capture, MapKind kind) {
  const auto crosses = [kind](const Graph& graph, const Node& node) {
    return graph.map(node.as<op::SelectRows>().via.front()).kind == kind;
  };
  return match::op<op::SelectRows>().where(crosses).named(capture).shared();
}

Pattern mixture_by(Pattern score) {
  Pattern weights = match::op<op::SegmentSoftmax>({std::move(score)}).named(kWeights).shared();
  return match::op<op::MixRows>({std::move(weights), match::any(kValues)});
}

std::vector<Guard> common_guards() {
  return {{"paths", other_paths}, {"no_default", default_rows}, {"acyclic", values_after_weights}};
}

Rule additive_attention() {
  Pattern sum =
      match::op<op::Add>({selected(kQueries, MapKind::left), selected(kKey, MapKind::right)})
          .commutative();
  Pattern score = match::op<op::Matmul>({match::op<op::Tanh>({std::move(sum)}), match::any(kV)});
  Rule rule{.name = "additive_attention",
            .pattern = mixture_by(std::move(score)),
            .guards = common_guards(),
            .numerics = {NumericClass::reassociates, 1e-4,
                         "rounding; a query beyond 87 with a key beyond -87 counts as 87"},
            .build = fuse_additive};
  rule.guards.push_back(one_head(kWeights));
  return rule;
}

// --- Dot-product attention ---

ValueId as_it_is(Rewriter&, ValueId x) { return x; }

void fuse_dot(Rewriter& rewriter, const Match& match) {
  const auto [heads, scale] = match.node(kScore).as<op::HeadDot>();
  replace_by_attention(rewriter, match, op::DotAttention{.heads = heads, .scale = scale}, as_it_is,
                       {match[kValues]});
}

void fuse_biased_dot(Rewriter& rewriter, const Match& match) {
  const auto [heads, scale] = match.node(kScore).as<op::HeadDot>();
  replace_by_attention(rewriter, match, op::DotAttention{.heads = heads, .scale = scale}, as_it_is,
                       {match[kValues], match[kPairBias]});
}

/// Neither operand of the sum is repeated: the bias has the rows and the heads of the dot products.
std::optional<std::string> repeated_bias(const Match& match) {
  const Graph& graph = match.graph();
  if (match.type(kPairBias) == match.type(kScore)) return std::nullopt;
  return fmt::format("the bias is {}, not {}, a number for each head of a pair",
                     graph.show(match.type(kPairBias)), graph.show(match.type(kScore)));
}

Pattern dot_product() {
  return match::op<op::HeadDot>({selected(kQueries, MapKind::left), selected(kKey, MapKind::right)})
      .named(kScore);
}

Rule dot_attention() {
  return {.name = "dot_attention",
          .pattern = mixture_by(dot_product()),
          .guards = common_guards(),
          .build = fuse_dot};
}

/// With a number for each head of a pair, as of relative positions. It cannot depend on the
/// weights, which depend on it.
Rule biased_dot_attention() {
  Pattern score = match::op<op::Add>({dot_product(), match::any(kPairBias)}).commutative();
  Rule rule{.name = "biased_dot_attention",
            .pattern = mixture_by(std::move(score)),
            .guards = common_guards(),
            .build = fuse_biased_dot};
  rule.guards.push_back({"bias_of_heads", repeated_bias});
  return rule;
}

}  // namespace

Pass fuse_attention() {
  return {.name = "fuse_attention",
          .rules = {additive_attention(), dot_attention(), biased_dot_attention()}};
}

}  // namespace fuselage
