#pragma once

#include "graph/graph.h"

namespace fuselage {

/// Checks what must hold for every graph: operands and uses agree, operands come from earlier in a
/// topological order, result types are what `infer` makes of the operands, each loop state has
/// exactly one next value, and no loop reads its own collected result. Throws Error naming the node
/// with both types and where it was defined.
void verify(const Graph& graph);

}  // namespace fuselage
