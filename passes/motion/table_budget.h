#pragma once

#include "graph/graph.h"
#include "passes/workload.h"

namespace fuselage {

/// What tables with rows of vocabulary entries take.
struct TableCost {
  double bytes = 0;
  double load_seconds = 0;  ///< to compute them when a model is loaded

  TableCost& operator+=(const TableCost& other) {
    bytes += other.bytes;
    load_seconds += other.load_seconds;
    return *this;
  }
};

/// What a table takes that holds `rows` rows of the first result of node `id`.
TableCost table_cost(const Graph& graph, NodeId id, double rows, const Target& target);

/// What the tables take that a graph computes already, complete ones and those of the most frequent
/// rows. Memory counts only where a later program reads a table, since the load program gives back
/// what it needs in between; stored tables are weights and do not count.
TableCost present_tables(const Graph& graph, const Target& target);

}  // namespace fuselage
