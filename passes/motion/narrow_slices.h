#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Slices of an elementwise value move to its operands, where all that is read of it are slices: so
/// gates that were computed as one value can go where they are used.
Pass narrow_slices();

}  // namespace fuselage
