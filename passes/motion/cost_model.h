#pragma once

#include "graph/graph.h"
#include "passes/workload.h"

namespace fuselage {

/// What the law weighs.
struct CommuteOptions {
  Workload workload;
  /// For rewrites that change how a result is rounded: one profile for all searches, so that the
  /// bytes of a translation depend on neither the beam nor the batch.
  Workload rounding_workload;
  Target target;
  double table_bytes = 64e6;  ///< most memory for tables with a row per vocabulary entry
  double load_seconds = 0.3;  ///< most time for computing them when a model is loaded
};

/// The same with the workload for rewrites that change how a result is rounded.
CommuteOptions for_rounding(CommuteOptions options);

/// Expected time of work on a graph.
struct CostModel {
  const Graph& graph;
  const CommuteOptions& options;

  /// Seconds per sentence of work of this cost for each row of a domain.
  double seconds(const Cost& cost, DomainId domain) const {
    return expected_seconds(graph, cost, domain, options.workload, options.target);
  }
};

/// Reading a row through an index.
Cost cost_of_reading(const Type& type);

/// A term of a weighted sum of rows.
Cost cost_of_mixing(const Type& type);

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
