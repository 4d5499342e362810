#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// What computes a value also quantizes it, vector by vector while it is in the cache, if its op
/// can.
Pass fuse_quantize();

}  // namespace fuselage
