#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Evaluates nodes that depend only on small constants, by the reference evaluation in f32.
Pass fold_constants();

}  // namespace fuselage
