#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Live nodes with every producer before its users; nodes that are in such an order already keep
/// it. Throws InternalError when operand edges form a cycle.
std::vector<NodeId> topological_order(const Graph& graph);

/// Which nodes `roots` depend on, themselves included; indexed by node index.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots);

/// Nodes that are live by themselves: producers of outputs, and sinks.
std::vector<NodeId> root_nodes(const Graph& graph);

/// True when both graphs compute the same: the same domains, maps and outputs, and the same ops,
/// operands, attributes and types met in a canonical ordered traversal. Value names, locations,
/// provenance and the order of unrelated nodes do not count.
bool same_graph(const Graph& a, const Graph& b);

/// A hash that is equal for graphs that are the same_graph.
std::uint64_t structural_hash(const Graph& graph);

/// Graphviz source of the graph: nodes with op, type and name; edges from producers to users.
std::string to_graphviz(const Graph& graph);

}  // namespace fuselage
