#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Common subexpression elimination. Nodes are equal if their ops, attributes and operands are
/// equal; states are equal if their initial and next values are, so identical recurrences are
/// merged.
Pass merge_common_subexpressions();

}  // namespace fuselage
