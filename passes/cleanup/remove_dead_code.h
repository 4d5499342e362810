#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Removes nodes that no output depends on, directly or through loops. A state that only feeds
/// itself is removed.
Pass remove_dead_code();

}  // namespace fuselage
