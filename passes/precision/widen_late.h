#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Weights that a model stores in 16 bits are read as they are, and widened by their readers:
///
///     quantize(cast(W)) = quantize(W)
///     matmul(x, cast(W)) = matmul(x, W)      if `multiplies`: products do not round their rows
///
/// so that a weight is not in memory in f32 as well.
Pass widen_late(bool multiplies);

}  // namespace fuselage
