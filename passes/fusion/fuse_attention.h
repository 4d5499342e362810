#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Attention (score, softmax, mix) becomes one node, additive or by dot products. In additive
/// attention a tanh for each pair of a query and a key is most of the work; as exp(q + k) is
/// exp(q) exp(k), exponentials for each query and for each key take its place, and the keys' are
/// known before the first step.
Pass fuse_attention();

}  // namespace fuselage
