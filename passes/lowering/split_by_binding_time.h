#pragma once

#include <array>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// A graph cut into what runs once per model, once per batch of sentences and once per decoding
/// step. Each part declares the same domains and maps under the same ids. A computed value that a
/// later part reads is an output of the earlier one and an `import` of that name in the later;
/// parameters and constants stand in every part that reads them.
struct Programs {
  Graph load, source, step;
  /// By binding time, then by index of a part's node: the node of the whole graph that it copies
  /// or imports.
  std::array<std::vector<NodeId>, 3> origins;
};

/// Cuts a graph by the binding times of its nodes. Outputs stay in the part that computes them,
/// under their names.
Programs split_by_binding_time(const Graph& graph);

const Graph& program(const Programs& programs, BindingTime time);

}  // namespace fuselage
