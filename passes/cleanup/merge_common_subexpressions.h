#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Computes equal things once. Equal are nodes of one op with equal attributes and equal operands,
/// and states that begin equal and go on equal: two recurrences that cannot be told apart become
/// one.
Pass merge_common_subexpressions();

}  // namespace fuselage
