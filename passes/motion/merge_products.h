#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// What several nodes compute from one operand becomes one node and parts of its result:
///
/// * `products`: matmul(x, U), matmul(x, V) are slices of matmul(x, concat(U, V)); the matrix is
///   put together when the model is loaded;
/// * `mixtures`: mix_rows(a, x), mix_rows(a, y) are slices of mix_rows(a, concat(x, y)).
///
/// All siblings are merged at once. Each element of a result is a sum of its own, so no bit
/// changes.
Pass merge_products();

}  // namespace fuselage
