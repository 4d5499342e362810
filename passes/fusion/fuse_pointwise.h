#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Chains of elementwise ops over the same rows become one `pointwise` node, so that values between
/// them stay in the cache: any cell of a recurrent network, without a pattern for any. A value that
/// others need too becomes a further result.
Pass fuse_pointwise();

}  // namespace fuselage
