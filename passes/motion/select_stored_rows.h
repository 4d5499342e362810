#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Selects rows of a table as it is stored, in integers, and converts the selected rows, if the
/// table of real numbers would be made for selections only: it would take several times the memory.
Pass select_stored_rows();

}  // namespace fuselage
