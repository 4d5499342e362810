#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// A graph split into programs that run once per model, once per batch and once per decoding step.
/// All parts declare the same domains and maps under the same ids. A computed value read by a later
/// part is an output of the earlier part and an `import` of that name in the later; parameters and
/// constants are copied into every part that reads them.
struct Programs {
  Graph load, source, step;
  /// By binding time, then by index of a part's node: the node of the whole graph that it copies
  /// or imports.
  std::array<std::vector<NodeId>, 3> origins;
  /// By binding time: the number of outputs that are outputs of the whole graph. They come before
  /// the values that only later parts read.
  std::array<std::size_t, 3> own_outputs = {};
};

/// Splits a graph by the binding times of its nodes. Outputs stay in the part that computes them,
/// under their names.
Programs split_by_binding_time(const Graph& graph);

const Graph& program(const Programs& programs, BindingTime time);

}  // namespace fuselage
