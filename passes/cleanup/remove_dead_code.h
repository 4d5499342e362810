#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Removes what no output depends on. A state is needed only where an output depends on it, however
/// long the way through the loop; a state that only feeds itself goes.
Pass remove_dead_code();

}  // namespace fuselage
