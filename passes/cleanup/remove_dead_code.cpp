#include "passes/cleanup/remove_dead_code.h"

#include "graph/traversal.h"

namespace fuselage {
namespace {

/// The `next` of each state, by the state's node index.
std::vector<NodeId> nexts_of_states(const Graph& graph) {
  std::vector<NodeId> nexts(graph.node_limit());
  for (const NodeId id : graph.nodes())
    if (graph.node(id).has(Trait::loop_next))
      nexts[graph.value(graph.node(id).operands[0]).producer.index] = id;
  return nexts;
}

/// The nodes that outputs depend on, directly or through loops; by node index.
std::vector<bool> live_nodes(const Graph& graph) {
  const std::vector<NodeId> nexts = nexts_of_states(graph);
  std::vector<bool> live(graph.node_limit());
  std::vector<NodeId> open;
  const auto visit = [&](NodeId id) {
    if (!id.valid() || live[id.index]) return;
    live[id.index] = true;
    open.push_back(id);
  };
  for (const Output& output : graph.outputs()) visit(graph.value(output.value).producer);
  for (const NodeId id : graph.nodes())
    if (graph.node(id).has(Trait::sink) && !graph.node(id).has(Trait::loop_next)) visit(id);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const ValueId operand : graph.node(id).operands) visit(graph.value(operand).producer);
    visit(nexts[id.index]);
  }
  return live;
}

bool remove_unreachable_nodes(Rewriter& rewriter) {
  const Graph& graph = rewriter.graph();
  const std::vector<bool> live = live_nodes(graph);
  const std::vector<NodeId> order = topological_order(graph);
  rewriter.begin("remove_dead_code", {});
  for (auto id = order.rbegin(); id != order.rend(); ++id)
    if (!live[id->index]) rewriter.remove(*id);
  return rewriter.finish();
}

}  // namespace

Pass remove_dead_code() { return {.name = "remove_dead_code", .run = remove_unreachable_nodes}; }

}  // namespace fuselage
