#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Replaces a loop over source positions with a plain GRU or LSTM cell by one recurrent_layer.
Pass fuse_recurrence();

}  // namespace fuselage
