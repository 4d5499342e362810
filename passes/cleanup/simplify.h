#pragma once

#include "passes/rewrite/pass.h"

namespace fuselage {

/// Removes what changes nothing and gives every computation one spelling: constants stand on the
/// right, a path of row maps is one selection, parts are cut out of what they were put together
/// from. Later patterns then need to know one form only.
Pass simplify();

}  // namespace fuselage
