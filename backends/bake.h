#pragma once

#include "fuselage/backends/compile.h"
#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// Precomputes the load-time work of a model: runs the passes for tables with `options`, then the
/// load program, and stores its results as weights. Drops weights without readers. The graph keeps
/// its outputs and remains valid for any search, pass and back-end. The numbers are computed by the
/// CPU back-end at the active instruction-set level.
void bake(Graph& graph, TensorMap& weights, const CompileOptions& options);

}  // namespace fuselage
