#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses `quantize` with the producer of its operand, if the producer's op supports it: each vector
/// is quantized while it is in the cache.
Pass fuse_quantize();

}  // namespace fuselage
