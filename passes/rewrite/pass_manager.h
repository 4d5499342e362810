#pragma once

#include <span>
#include <vector>

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Runs one pass and checks on it as the options say. Throws InternalError, naming the pass, when
/// it leaves a graph that does not verify, or reports something else than it did.
PassRecord run_pass(const Pass& pass, Graph& graph, const PassOptions& options = {});

/// Runs passes one after the other.
std::vector<PassRecord> run_passes(std::span<const Pass> passes, Graph& graph,
                                   const PassOptions& options = {});

}  // namespace fuselage
