#include "fuselage/graph/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/registrant.h"
#include "fuselage/base/error.h"
#include "graph/infer_types.h"
#include "graph/traversal.h"

namespace fuselage {
namespace {

void verify_uses(const Graph& graph) {
  std::size_t operand_count = 0;
  std::size_t use_count = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    operand_count += node.operands.size();
    for (std::uint32_t i = 0; i < node.operands.size(); ++i) {
      const auto& uses = graph.value(node.operands[i]).uses;
      check(std::count(uses.begin(), uses.end(), Use{id, i}) == 1,
            "an operand is not in its value's list of uses");
    }
    for (const ValueId result : node.results) use_count += graph.value(result).uses.size();
  }
  check(operand_count == use_count, "a value lists a use that no node has");
}

void verify_types(const Graph& graph) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    const std::vector<Type> types = infer_types(graph, node);
    if (types.size() != node.results.size() && !node.op->registered_by.empty())
      fail_for(node.op->registered_by, registered_op(*node.op), "it changed its number of results");
    check(types.size() == node.results.size(), "an op changed its number of results");
    for (std::size_t i = 0; i < types.size(); ++i) {
      const Type& stored = graph.value(node.results[i]).type;
      if (types[i] != stored)
        throw Error(fmt::format("{}: its result is {}, but its operands give {}",
                                graph.describe(id), graph.show(stored), graph.show(types[i])));
    }
  }
}

/// Each state has exactly one `next`, the loop sink whose first operand is the state.
void verify_loops(const Graph& graph) {
  std::map<NodeId, int> next_count;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.has(Trait::loop_next)) continue;
    const NodeId state = graph.value(node.operands[0]).producer;
    if (!graph.node(state).has(Trait::loop_state))
      throw Error(fmt::format("{}: its first operand must be a state, not the {} of {}",
                              graph.describe(id), graph.show(graph.value(node.operands[0]).type),
                              graph.describe(state)));
    if (++next_count[state] > 1)
      throw Error(fmt::format("{}: {} has a next value already", graph.describe(id),
                              graph.describe(state)));
  }
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.has(Trait::loop_state) && next_count[id] == 0)
      throw Error(fmt::format("{}: this state has no next value; add next(state, value)",
                              graph.describe(id)));
  }
}

/// A scan runs as a whole, so a result computed from it outside must not be read inside.
void verify_scans(const Graph& graph) {
  for (std::uint32_t i = 1; i < graph.domain_count(); ++i) {
    const DomainId scan{i};
    if (graph.domain(scan).kind != DomainKind::scan) continue;
    std::vector<bool> after(graph.node_limit());
    for (const NodeId id : topological_order(graph)) {
      const Node& node = graph.node(id);
      const bool inside = !node.results.empty() && graph.value(node.results[0]).type.domain == scan;
      bool leaves = false;
      bool downstream = false;
      for (const ValueId operand : node.operands) {
        const Value& value = graph.value(operand);
        if (after[value.producer.index]) downstream = true;
        if (value.type.domain == scan && !inside && !node.has(Trait::sink)) leaves = true;
      }
      if (inside && downstream)
        throw Error(
            fmt::format("{}: it is part of the loop '{}' and depends on a result of that loop",
                        graph.describe(id), graph.domain(scan).name));
      after[id.index] = leaves || downstream;
    }
  }
}

}  // namespace

void verify(const Graph& graph) {
  verify_uses(graph);
  topological_order(graph);
  verify_types(graph);
  verify_loops(graph);
  verify_scans(graph);
}

}  // namespace fuselage
