#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// A loop over source positions whose cell is a plain GRU or LSTM becomes one recurrent_layer.
Pass fuse_recurrence();

}  // namespace fuselage
