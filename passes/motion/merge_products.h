#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Merges several nodes that share an operand into one node and slices of its result:
///
/// * `products`: matmul(x, U), matmul(x, V) are slices of matmul(x, concat(U, V)); the matrix is
///   put together when the model is loaded;
/// * `mixtures`: mix_rows(a, x), mix_rows(a, y) are slices of mix_rows(a, concat(x, y)).
///
/// All siblings are merged at once. Each element of a result is a separate sum, so no bit changes.
/// With `by_stored_type` only products are merged whose matrices the model stores in the same type.
Pass merge_products(bool by_stored_type = false);

}  // namespace fuselage
