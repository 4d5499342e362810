#pragma once

#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// One entry of a schedule: a single node, or a whole scan with the nodes of its body in order.
struct ScheduleItem {
  DomainId scan;              ///< invalid: a single node
  std::vector<NodeId> nodes;  ///< the node, or the loop's body
};

/// An execution order: producers before users, and all nodes of a scan together (its values, `next`
/// and `collect` nodes). `collect` is part of the body, because each iteration writes its rows of
/// the collected value.
std::vector<ScheduleItem> schedule(const Graph& graph);

/// The same items, each behind what it needs and only then needed: values are in memory for a short
/// time, though nodes are in no order that a reader would expect.
std::vector<ScheduleItem> scheduled_late(const Graph& graph, std::vector<ScheduleItem> items);

/// The scan that a node belongs to; invalid for nodes outside of all scans.
DomainId scan_of(const Graph& graph, NodeId id);

/// By node index, whether the node runs after node `id`. All nodes of a scan run together, so what
/// follows one of them follows all; the nodes of the scan of `id` follow only by their operands.
std::vector<bool> followers(const Graph& graph, NodeId id);

}  // namespace fuselage
