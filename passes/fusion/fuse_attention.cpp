#include "passes/fusion/fuse_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/traversal.h"

namespace fuselage {
namespace {

/// Beyond this the exponential of a float and of its negative are not both normal numbers.
constexpr double kLargest = 87;

/// What a selection's path crosses behind `path`; nothing where it does not begin with that.
std::optional<MapPath> rest_of_path(const Match& match, const char* name, const MapPath& path) {
  const auto& via = match.node(name).attr<MapPath>("via");
  if (via.size() < path.size() || !std::equal(path.begin(), path.end(), via.begin()))
    return std::nullopt;
  return MapPath(via.begin() + static_cast<std::ptrdiff_t>(path.size()), via.end());
}

const MapPath& left_path(const Match& match) { return match.root_node().attr<MapPath>("to"); }
const MapPath& right_path(const Match& match) { return match.root_node().attr<MapPath>("via"); }

/// The query comes from the left member of each pair, the key from the right.
std::optional<std::string> other_paths(const Match& match) {
  if (rest_of_path(match, "query", left_path(match)) &&
      rest_of_path(match, "key", right_path(match)))
    return std::nullopt;
  return "the score does not come from the query and the key whose values are mixed";
}

std::optional<std::string> default_rows(const Match& match) {
  const Graph& graph = match.graph();
  for (const char* name : {"query", "key"}) {
    const Node& select = match.node(name);
    const auto& via = select.attr<MapPath>("via");
    if (select.operands.size() > 1 ||
        std::any_of(via.begin(), via.end(), [&](MapId id) { return graph.map(id).partial; }))
      return fmt::format("{} has a default row", graph.describe(select));
  }
  return std::nullopt;
}

std::optional<std::string> several_heads(const Match& match) {
  const std::int64_t heads = row_size(match.type("weights"));
  if (heads == 1) return std::nullopt;
  return fmt::format("it has {} heads", heads);
}

/// Weights may mix something that another mixture by the same weights has led to.
std::optional<std::string> values_after_weights(const Match& match) {
  const Graph& graph = match.graph();
  const std::vector<bool> before = reachable(graph, {graph.value(match["values"]).producer});
  if (!before[graph.value(match["weights"]).producer.index]) return std::nullopt;
  return "the values come after the weights";
}

using Attributes = AttrList;

/// What the fused node takes of a query or key, before it is selected.
using Prepare = ValueId (*)(Rewriter&, ValueId);

/// The query or the key for each member of the pairs on its side.
ValueId member(Rewriter& rewriter, const Match& match, const char* name, const MapPath& side,
               Prepare prepare) {
  const MapPath rest = rest_of_path(match, name, side).value();
  const ValueId x = prepare(rewriter, match.node(name).operands[0]);
  return rest.empty() ? x : rewriter.add("select_rows", {x}, {{"via", rest}});
}

/// Puts `op` of query, key and `more` in the place of weights and mixture.
void fuse(Rewriter& rewriter, const Match& match, std::string_view op, Prepare prepare,
          const std::vector<ValueId>& more, Attributes attrs) {
  const auto& left = match.root_node().attr<MapPath>("to");
  const auto& right = match.root_node().attr<MapPath>("via");
  const ValueId weights = match["weights"];
  std::vector<ValueId> operands{member(rewriter, match, "query", left, prepare),
                                member(rewriter, match, "key", right, prepare)};
  operands.insert(operands.end(), more.begin(), more.end());
  attrs.insert(attrs.end(), {{"left", left}, {"right", right}});
  const NodeId fused = rewriter.add_node(op, std::move(operands), attrs);
  rewriter.replace(weights, rewriter.graph().result(fused, 0));
  rewriter.replace(match.result(), rewriter.graph().result(fused, 1));
}

// --- Additive attention ---

/// exp(x), with x bounded so that the product of two of them is a number.
ValueId factor(Rewriter& rewriter, ValueId x) {
  const auto number = [&rewriter](double value) {
    return rewriter.add("constant", {}, {{"values", std::vector<double>{value}}});
  };
  // The second operand stays when it is NaN.
  const ValueId above = rewriter.add("max", {number(-kLargest), x});
  return rewriter.add("exp", {rewriter.add("min", {number(kLargest), above})});
}

void fuse_additive(Rewriter& rewriter, const Match& match) {
  fuse(rewriter, match, "additive_attention", factor, {match["v"], match["values"]}, {});
}

/// A row selected through a map of this kind.
Pattern selected(const char* name, MapKind kind) {
  const auto crosses = [kind](const Graph& graph, const Node& node) {
    return graph.map(node.attr<MapPath>("via").front()).kind == kind;
  };
  return match::op("select_rows").where(crosses).named(name).shared();
}

Pattern mixture_by(Pattern score) {
  Pattern weights = match::op("segment_softmax", {std::move(score)}).named("weights").shared();
  return match::op("mix_rows", {std::move(weights), match::any("values")});
}

std::vector<Guard> common_guards() {
  return {{"paths", other_paths}, {"no_default", default_rows}, {"acyclic", values_after_weights}};
}

Rule additive_attention() {
  Pattern sum =
      match::op("add", {selected("query", MapKind::left), selected("key", MapKind::right)})
          .commutative();
  Pattern score = match::op("matmul", {match::op("tanh", {std::move(sum)}), match::any("v")});
  Rule rule{.name = "additive_attention",
            .pattern = mixture_by(std::move(score)),
            .guards = common_guards(),
            .numerics = {NumericClass::reassociates, 1e-4,
                         "rounding; a query beyond 87 with a key beyond -87 counts as 87"},
            .build = fuse_additive};
  rule.guards.push_back({"one_head", several_heads});
  return rule;
}

// --- Dot-product attention ---

ValueId as_it_is(Rewriter&, ValueId x) { return x; }

void fuse_dot(Rewriter& rewriter, const Match& match) {
  const Node& score = match.node("score");
  fuse(rewriter, match, "dot_attention", as_it_is, {match["values"]},
       {{"heads", score.attr<std::int64_t>("heads")}, {"scale", score.attr<double>("scale")}});
}

Rule dot_attention() {
  Pattern score =
      match::op("head_dot", {selected("query", MapKind::left), selected("key", MapKind::right)})
          .named("score");
  return {.name = "dot_attention",
          .pattern = mixture_by(std::move(score)),
          .guards = common_guards(),
          .build = fuse_dot};
}

}  // namespace

Pass fuse_attention() {
  return {.name = "fuse_attention", .rules = {additive_attention(), dot_attention()}};
}

}  // namespace fuselage
