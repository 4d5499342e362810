#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses chains of elementwise ops over the same rows into one `pointwise` node, so that
/// intermediate values stay in the cache. Any recurrent cell fuses without a pattern of its own. An
/// intermediate value with other users becomes a further result.
Pass fuse_pointwise();

}  // namespace fuselage
