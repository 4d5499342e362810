#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Removes identities and normalizes the graph: constants are right operands, a chain of selections
/// is one selection along a path, slices of concatenations are slices of the operands. Later
/// patterns need only the normal form.
Pass simplify();

}  // namespace fuselage
