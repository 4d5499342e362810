#include "passes/fuse_attention.h"

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

/// The query or the key as the fused node takes it: `x`, made of what the selection reads, for each
/// member of the pairs.
ValueId for_members(Rewriter& rewriter, ValueId x, const MapPath& rest) {
  return rest.empty() ? x : rewriter.add("select_rows", {x}, {{"via", rest}});
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
  const Graph& graph = match.graph();
  const ValueId query = match.node("query").operands[0];
  const ValueId key = match.node("key").operands[0];
  const MapPath left = left_path(match);
  const MapPath right = right_path(match);
  const MapPath query_rest = rest_of_path(match, "query", left).value();
  const MapPath key_rest = rest_of_path(match, "key", right).value();
  const ValueId weights = match["weights"];
  const NodeId fused = rewriter.add_node(
      "additive_attention",
      {for_members(rewriter, factor(rewriter, query), query_rest),
       for_members(rewriter, factor(rewriter, key), key_rest), match["v"], match["values"]},
      {{"left", left}, {"right", right}});
  rewriter.replace(weights, graph.result(fused, 0));
  rewriter.replace(match.result(), graph.result(fused, 1));
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
          .either_order();
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

void fuse_dot(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const ValueId query = match.node("query").operands[0];
  const ValueId key = match.node("key").operands[0];
  const MapPath left = left_path(match);
  const MapPath right = right_path(match);
  const MapPath query_rest = rest_of_path(match, "query", left).value();
  const MapPath key_rest = rest_of_path(match, "key", right).value();
  const ValueId weights = match["weights"];
  const auto heads = match.node("score").attr<std::int64_t>("heads");
  const auto scale = match.node("score").attr<double>("scale");
  const NodeId fused =
      rewriter.add_node("dot_attention",
                        {for_members(rewriter, query, query_rest),
                         for_members(rewriter, key, key_rest), match["values"]},
                        {{"left", left}, {"right", right}, {"heads", heads}, {"scale", scale}});
  rewriter.replace(weights, graph.result(fused, 0));
  rewriter.replace(match.result(), graph.result(fused, 1));
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
