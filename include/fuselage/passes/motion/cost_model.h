#pragma once

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/passes/workload.h"

namespace FUSELAGE_API fuselage {

/// Parameters of the cost decisions.
struct CommuteOptions {
  Workload workload;
  /// For rewrites that change rounding: the same workload for all searches, so that the bytes of a
  /// translation depend on neither the beam nor the batch.
  Workload rounding_workload;
  Target target;
  double table_bytes = 64e6;  ///< maximum bytes of tables with a row per vocabulary entry
  double load_seconds = 0.3;  ///< maximum time for computing them at load, in seconds
};

/// `options` with the rounding workload as the workload.
CommuteOptions for_rounding(CommuteOptions options);

/// Estimates the time of work on a graph.
struct CostModel {
  const Graph& graph;
  const CommuteOptions& options;

  /// Seconds per sentence of work with this cost per row of a domain.
  double seconds(const Cost& cost, DomainId domain) const {
    return expected_seconds(graph, cost, domain, options.workload, options.target);
  }

  /// Seconds per sentence that a kernel for the rows of a domain takes apart from its work.
  double kernel_seconds(DomainId domain) const {
    return options.target.kernel_seconds * expected_runs(graph, domain, options.workload) /
           options.workload.batch;
  }
};

/// Cost of reading a row through an index.
Cost cost_of_reading(const Type& type);

/// Cost of one term of a weighted sum of rows.
Cost cost_of_mixing(const Type& type);

/// Cost of tables with rows per vocabulary entry.
struct TableCost {
  double bytes = 0;
  double load_seconds = 0;  ///< time to compute them at load

  TableCost& operator+=(const TableCost& other) {
    bytes += other.bytes;
    load_seconds += other.load_seconds;
    return *this;
  }
};

/// The cost of a table with `rows` rows of the first result of node `id`.
TableCost table_cost(const Graph& graph, NodeId id, double rows, const Target& target);

/// The cost of all tables that a graph already computes, complete or of the most frequent rows.
/// Memory counts only for tables read by a later program, since the load program frees its
/// intermediate values. Stored tables are weights and do not count.
TableCost present_tables(const Graph& graph, const Target& target);

}  // namespace fuselage
