#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Computes what depends on small constants alone, by the ops' own evaluation in f32.
Pass fold_constants();

}  // namespace fuselage
