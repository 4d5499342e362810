#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Fuses the sum of rows with the sinusoids of their positions, as of embedded words, for back-ends
/// whose kernels read the positions themselves.
Pass fuse_positions();

}  // namespace fuselage
