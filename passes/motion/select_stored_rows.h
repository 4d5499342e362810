#pragma once

#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

/// Selects rows of a table as it is stored, in integers or, if `halves`, in 16-bit floats, and
/// converts the selected rows, if the table of real numbers would be made for selections only: it
/// would take several times the memory.
Pass select_stored_rows(bool halves);

}  // namespace fuselage
