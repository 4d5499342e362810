#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses the output layers of several models into one node, if k_best reads the weighted sum of
/// their log-probabilities. Its kernel writes neither logits nor probabilities.
Pass fuse_ensemble();

}  // namespace fuselage
