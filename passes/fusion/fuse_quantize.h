#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses `quantize` to integers, to 16-bit floats or to both with the producer of its operand, if
/// the producer's op supports it: each vector is quantized while it is at hand.
Pass fuse_quantize(bool to_integers, bool to_halves);

}  // namespace fuselage
