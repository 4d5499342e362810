#pragma once

#include <vector>

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Applies rules until none applies, in an order that depends only on the graph: producers before
/// users, for each node the rules as listed, then again all nodes touched by a rewrite. Fills in
/// the rewrites, refusals and skipped rules of `record`. Throws InternalError with the active rules
/// if the maximum number of rewrites is exceeded.
void apply_rules(const std::vector<Rule>& rules, Rewriter& rewriter, const PassOptions& options,
                 PassRecord& record);

}  // namespace fuselage
