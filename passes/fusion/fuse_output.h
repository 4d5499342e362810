#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Makes one node of an output layer: product, bias, log-softmax and k best, the last two also
/// alone. Its kernel needs a tile of the logits at a time, so that they are never written.
Pass fuse_output();

}  // namespace fuselage
