#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses attention (score, softmax, mixture) into one node, additive or with dot products, to which
/// a bias of each pair may be added. In
/// additive attention one tanh per pair of query and key dominates the cost. Since exp(q + k) =
/// exp(q) exp(k), one exponential per query and per key replaces it; the exponentials of keys are
/// computed before the first step.
Pass fuse_attention();

}  // namespace fuselage
