#include "passes/fuse_attention.h"

#include <fmt/format.h>

#include "graph/traversal.h"

namespace fuselage {
namespace {

/// Beyond this the exponential of a float and of its negative are not both normal numbers.
constexpr double kLargest = 87;

/// The query comes from the left member of each pair, the key from the right.
std::optional<std::string> other_paths(const Match& match) {
  const auto& left = match.root_node().attr<MapPath>("to");
  const auto& right = match.root_node().attr<MapPath>("via");
  if (match.node("query").attr<MapPath>("via") == left &&
      match.node("key").attr<MapPath>("via") == right)
    return std::nullopt;
  return "the score does not come from the query and the key whose values are mixed";
}

std::optional<std::string> default_rows(const Match& match) {
  for (const char* name : {"query", "key"})
    if (match.node(name).operands.size() > 1)
      return fmt::format("{} has a default row", match.graph().describe(match.node(name)));
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
  const MapPath left = match.root_node().attr<MapPath>("to");
  const MapPath right = match.root_node().attr<MapPath>("via");
  const ValueId weights = match["weights"];
  const NodeId fused = rewriter.add_node(
      "additive_attention",
      {factor(rewriter, query), factor(rewriter, key), match["v"], match["values"]},
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
  const ValueId weights = match["weights"];
  const Node score = match.node("score");  // NOLINT(performance-unnecessary-copy-initialization)
  const Node mix = match.root_node();      // NOLINT(performance-unnecessary-copy-initialization)
  const NodeId fused = rewriter.add_node("dot_attention", {query, key, match["values"]},
                                         {{"left", mix.attr<MapPath>("to")},
                                          {"right", mix.attr<MapPath>("via")},
                                          {"heads", score.attr<std::int64_t>("heads")},
                                          {"scale", score.attr<double>("scale")}});
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
