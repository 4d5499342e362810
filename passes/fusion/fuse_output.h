#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses an output layer into one node: product, k best, and optionally bias and log-softmax. Its
/// kernel processes the logits in tiles and never writes all of them.
Pass fuse_output();

}  // namespace fuselage
