#pragma once

#include <memory>
#include <string>

#include "backends/executable.h"

namespace fuselage {

/// How to turn a graph into something that runs.
struct CompileOptions {
  std::string backend = "cpu";  ///< "cpu", or "reference": the slow oracle
  std::string passes = "all";   ///< optimizer passes: "all", "none", or names with commas between
};

/// Optimizes `graph` and lowers it to a back-end. Throws Error for an unknown back-end or pass, and
/// for weights that do not fit the graph.
std::unique_ptr<Executable> compile(Graph graph, TensorMap weights,
                                    const CompileOptions& options = {});

}  // namespace fuselage
