#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "fuselage/backends/graph_runner.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Largest differences that count as equal, relative to the larger of two numbers and 1. The
/// tolerance of a node is that of the least accurate rule which it or a node before it comes from.
/// Roundings of almost equal numbers to few bits may give different integers, one apart. Single
/// results then differ much, but all of a node little.
struct NodeTolerances {
  double rounding = 1e-4;       ///< after exact and reassociating rules only
  double approximation = 1e-3;  ///< after approximating rules
  double quantization = 0.25;   ///< after quantizing rules, and where a graph quantizes itself
  /// There, the root mean square of the differences of a node's results, relative to that of the
  /// results and 0.001.
  double quantization_rms = 0.05;

  /// One tolerance for all results.
  static NodeTolerances all(double tolerance) {
    return {tolerance, tolerance, tolerance, std::numeric_limits<double>::infinity()};
  }
};

/// The largest difference between two evaluations of a node, in the first node with one.
struct NodeDifference {
  std::string node;      ///< its text: op, name and location
  std::string origins;   ///< nodes of the user's graph that it comes from
  std::string rules;     ///< rules that made it of these, oldest first; empty: none
  std::size_t sentence;  ///< from 0; 0 for a node that does not depend on a batch
  std::int64_t row;      ///< of the sentence
  std::int64_t column;
  double value, reference;
};

/// The result of compare_with_reference.
struct NodeComparison {
  std::size_t compared = 0;  ///< nodes with equal results, up to the first difference
  /// Nodes that were not compared: in loops, over all words of a prefix, and with results of types
  /// that back-ends do not show.
  std::size_t skipped = 0;
  std::optional<NodeDifference> difference = {};
};

/// Runs the passes of `options` on a graph, evaluates each node of the optimized graph by the
/// back-end of `options` and by the reference interpreter, and finds the first node in program
/// order with a result that differs by more than its tolerance. Integers have to be equal. Throws
/// Error as GraphRunner does.
NodeComparison compare_with_reference(Graph graph, const TensorMap& weights,
                                      const CompileOptions& options,
                                      std::span<const NamedRows> inputs,
                                      const NodeTolerances& tolerances, std::size_t mini_batch = 0);

}  // namespace fuselage
