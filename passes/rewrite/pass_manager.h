#pragma once

#include <span>
#include <vector>

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Runs one pass with the checks of `options`. Throws InternalError with the name of the pass if
/// the resulting graph does not verify, or if the pass misreports whether it changed the graph.
PassRecord run_pass(const Pass& pass, Graph& graph, const PassOptions& options = {});

/// Runs passes in order.
std::vector<PassRecord> run_passes(std::span<const Pass> passes, Graph& graph,
                                   const PassOptions& options = {});

}  // namespace fuselage
