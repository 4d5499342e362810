#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Merges two elementwise nodes that read a common operand, over the same rows and as wide as their
/// results, into one `pointwise` node with the results of both: one kernel, and each row is read
/// once. Neither may need a result of the other.
Pass merge_chains();

}  // namespace fuselage
