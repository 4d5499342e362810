#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Moves slices of an elementwise value to its operands, if all its users are slices: gates
/// computed as one value can then be fused into their users.
Pass narrow_slices();

}  // namespace fuselage
