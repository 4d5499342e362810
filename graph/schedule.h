#pragma once

#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// One entry of a schedule: a single node, or a whole scan with the nodes of its body in order.
struct ScheduleItem {
  DomainId scan;              ///< invalid: a single node
  std::vector<NodeId> nodes;  ///< the node, or the loop's body
};

/// An order in which to run a graph: producers before users, and everything that belongs to one
/// scan (its rows, its next values, the collection of its results) together. `collect` is part of
/// the body, for each iteration writes its rows of the collected value.
std::vector<ScheduleItem> schedule(const Graph& graph);

/// The scan that a node belongs to; invalid for nodes outside of any.
DomainId scan_of(const Graph& graph, NodeId id);

}  // namespace fuselage
