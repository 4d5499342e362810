#include "passes/fusion/merge_chains.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/fused/chains.h"
#include "graph/schedule.h"
#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

bool is_earlier_sibling(const Graph& graph, NodeId id, const Node& node) {
  const Node& other = graph.node(id);
  return id.index < graph.value(node.results[0]).producer.index && is_elementwise(graph, other) &&
         graph.value(other.results[0]).type == graph.value(node.results[0]).type;
}

/// The earlier elementwise nodes with the type of `node` that read an operand of this type, which
/// `node` reads too. Each pair is found once, at its later node.
std::vector<NodeId> earlier_siblings(const Graph& graph, const Node& node) {
  std::vector<NodeId> siblings;
  for (const ValueId operand : node.operands) {
    if (graph.value(operand).type != graph.value(node.results[0]).type) continue;
    for (const Use& use : graph.value(operand).uses)
      if (is_earlier_sibling(graph, use.node, node)) siblings.push_back(use.node);
  }
  return siblings;
}

bool has_earlier_sibling(const Graph& graph, const Node& node) {
  return is_elementwise(graph, node) && !earlier_siblings(graph, node).empty();
}

std::optional<std::string> refuse_row_function(const Graph& graph, const Node& a, const Node& b) {
  if (auto reason = refuse_in_chain(graph, a)) return reason;
  return refuse_in_chain(graph, b);
}

/// A merged node inside a path from one of the nodes to the other would be a cycle.
std::optional<std::string> refuse_dependence(const Graph& graph, NodeId a, NodeId b) {
  for (const auto& [first, second] : {std::pair(a, b), std::pair(b, a)})
    if (followers(graph, first)[second.index])
      return fmt::format("{} needs a result of {}", graph.describe(second), graph.describe(first));
  return std::nullopt;
}

struct Sibling {
  NodeId id;
  std::optional<std::string> row_function, length, dependence;  ///< reasons for a refusal
};

/// The first sibling that the root can be merged with; without one, the first.
Sibling find_sibling(const Match& match) {
  const Graph& graph = match.graph();
  std::optional<Sibling> first;
  for (const NodeId id : earlier_siblings(graph, match.root_node())) {
    const Node& other = graph.node(id);
    Sibling sibling{.id = id,
                    .row_function = refuse_row_function(graph, other, match.root_node()),
                    .length = refuse_length(graph, other, match.root_node()),
                    .dependence = refuse_dependence(graph, id, match.root())};
    if (!sibling.row_function && !sibling.length && !sibling.dependence) return sibling;
    if (!first) first = std::move(sibling);
  }
  return *first;
}

Guard sibling_guard(std::string name, std::optional<std::string> Sibling::*reason) {
  return {.name = std::move(name),
          .refuse = [reason](const Match& match) { return match.analysis<Sibling>().*reason; }};
}

std::optional<std::string> known_at_load(const Match& match) {
  const Graph& graph = match.graph();
  if (graph.binding(match.root()) != BindingTime::load) return std::nullopt;
  return fmt::format("{} is computed once, when the model is loaded",
                     graph.describe(match.root_node()));
}

void merge_into_one(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const NodeId sibling = match.analysis<Sibling>().id;
  rewriter.include(sibling);
  std::vector<ValueId> replaced = graph.node(sibling).results;
  replaced.insert(replaced.end(), match.root_node().results.begin(),
                  match.root_node().results.end());
  const BoundExpression both = join_expressions(graph, graph.node(sibling), match.root_node());
  const NodeId merged = rewriter.add_node(
      op::Pointwise{.expression = print_expression(both.expression)}, both.operands);
  for (std::size_t i = 0; i < replaced.size(); ++i)
    rewriter.replace(replaced[i], graph.result(merged, i));
}

}  // namespace

Pass merge_chains() {
  return {.name = "merge_chains",
          .rules = {{.name = "chains_of_one_operand",
                     .pattern = match::node(has_earlier_sibling),
                     .analyze = [](const Match& match) -> std::any { return find_sibling(match); },
                     .guards = {{"at_run_time", known_at_load},
                                sibling_guard("row_function", &Sibling::row_function),
                                sibling_guard("size", &Sibling::length),
                                sibling_guard("independent", &Sibling::dependence)},
                     .build = merge_into_one}}};
}

}  // namespace fuselage
