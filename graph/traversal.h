#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Live nodes with every producer before its users; stable for nodes that are already in such an
/// order. Throws InternalError if operand edges form a cycle.
std::vector<NodeId> topological_order(const Graph& graph);

/// Whether `roots` depend on a node, by node index; true for the roots themselves.
std::vector<bool> reachable(const Graph& graph, const std::vector<NodeId>& roots);

/// Nodes that are always live: producers of outputs, and sinks.
std::vector<NodeId> root_nodes(const Graph& graph);

/// Whether two graphs are structurally equal: same domains, maps and outputs, and same ops,
/// operands, attributes and types in a canonical ordered traversal. Ignores value names, locations,
/// provenance and the order of unrelated nodes.
bool same_graph(const Graph& a, const Graph& b);

/// A structural hash, equal for graphs that are equal by same_graph.
std::uint64_t structural_hash(const Graph& graph);

}  // namespace fuselage
