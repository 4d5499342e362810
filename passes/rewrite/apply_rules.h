#pragma once

#include <vector>

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Applies rules until none fits any more, in an order that depends on the graph alone: nodes from
/// producers to users, for each node the rules as listed, and what a rewrite touched again. Fills
/// in the rewrites, refusals and skipped rules of `record`. Throws InternalError, naming the rules
/// at work, when there is no end to it.
void apply_rules(const std::vector<Rule>& rules, Rewriter& rewriter, const PassOptions& options,
                 PassRecord& record);

}  // namespace fuselage
