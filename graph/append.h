#pragma once

#include <string>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Appends the nodes of `part`, another graph, to `whole`. Returns the id in `whole` of each value,
/// indexed by its index in `part`. Outputs of `part` are not copied.
///
/// Domains that always have the same rows are merged: domains of the same kind with the same owner,
/// and vocabularies of the same size with word maps from the same domain. Two domains of `part` are
/// never merged with each other, and scans are never merged. A newly declared domain or map keeps
/// its name unless `whole` uses it; then `prefix` is prepended. `prefix` is also prepended to the
/// names of all values, parameters and imports.
std::vector<ValueId> append_graph(Graph& whole, const Graph& part, const std::string& prefix);

}  // namespace fuselage
