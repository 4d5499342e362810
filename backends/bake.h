#pragma once

#include "backends/compile.h"
#include "base/tensor.h"
#include "graph/graph.h"

namespace fuselage {

/// Computes now what a model computes each time it is loaded: runs the passes for tables, as
/// `options` say, then the load program, and turns its results into weights.
/// What nothing reads any more is dropped. The graph stays one that any search, pass and back-end
/// takes; its outputs stay as they are. The numbers are those of the CPU back-end at the active
/// instruction-set level.
void bake(Graph& graph, TensorMap& weights, const CompileOptions& options);

}  // namespace fuselage
