#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fuselage/backends/graph_runner.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The first difference between two evaluations of a graph.
struct NodeDifference {
  std::string node;      ///< its text: op, name and location
  std::string origins;   ///< nodes of the user's graph that it comes from
  std::size_t sentence;  ///< from 0; 0 for a node that does not depend on a batch
  std::int64_t row;      ///< of the sentence
  std::int64_t column;
  double value, reference;
};

struct NodeComparison {
  std::size_t compared = 0;  ///< nodes with equal results, up to the first difference
  /// Nodes that were not compared: in loops, over all words of a prefix, and with results of types
  /// that back-ends do not show.
  std::size_t skipped = 0;
  std::optional<NodeDifference> difference = {};
};

/// Runs the passes of `options` on a graph, evaluates each node of the optimized graph by the
/// back-end of `options` and by the reference interpreter, and finds the first node in program
/// order with a result that differs by more than `tolerance`, relative to the larger of the two
/// numbers and 1. Integers have to be equal. Throws Error as GraphRunner does.
NodeComparison compare_with_reference(Graph graph, const TensorMap& weights,
                                      const CompileOptions& options,
                                      std::span<const NamedRows> inputs, double tolerance,
                                      std::size_t mini_batch = 0);

}  // namespace fuselage
