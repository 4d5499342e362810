#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// A product with a matrix takes in the elementwise computation that alone reads it: bias,
/// activation, residual, gate. They run on each tile of the product while it is in the cache.
Pass fuse_linear();

}  // namespace fuselage
