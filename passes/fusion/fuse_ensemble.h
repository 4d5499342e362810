#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Makes one node of the output layers of several models whose weighted log-probabilities are added
/// before the k best of them are taken. Its kernel writes neither logits nor probabilities.
Pass fuse_ensemble();

}  // namespace fuselage
