#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses a product with its only reader, an elementwise computation: bias, activation, residual,
/// gate. It runs on each tile of the product while the tile is in the cache.
Pass fuse_linear();

}  // namespace fuselage
