#pragma once

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// Checks the invariants of a graph: operands and uses agree, operand edges are acyclic, result
/// types equal the types that `infer` computes, each loop state has exactly one next value, and no
/// loop reads its own collected result. Throws Error with the node, its location and both types.
void verify(const Graph& graph);

}  // namespace fuselage
