#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// A layer normalization takes in the sum that it normalizes, as behind a residual connection; the
/// sum is a second result for others that read it.
Pass fuse_norm();

}  // namespace fuselage
