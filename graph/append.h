#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Appends the nodes of `part`, another graph, to `whole`, and returns where its values are now, by
/// their index in `part`. Its outputs are not taken over.
///
/// Domains that always have the same rows become one: those of a kind that belong to the same rows,
/// and vocabularies of one size to which words lead from the same rows. Two domains of `part` stay
/// two, and each scan stays a loop of its own. What has to be declared anew keeps its name where no
/// domain or map of `whole` has it; `prefix` goes in front of those that are taken, and of the
/// names of all values, parameters and imports.
std::vector<ValueId> append_graph(Graph& whole, const Graph& part, const std::string& prefix);

}  // namespace fuselage
