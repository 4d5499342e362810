#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses a layer or RMS normalization with the sum that it normalizes, as after a residual
/// connection. The sum is a second result for its other readers.
Pass fuse_norm();

}  // namespace fuselage
