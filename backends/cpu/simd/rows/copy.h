#pragma once

#include "fuselage/backends/cpu/simd/rows.h"

namespace fuselage::cpu {

/// Copies `rows` x `cols` elements; supports in.columns == 1. For concatenation call it once per
/// operand, with out.data at the operand's first column.
void copy_rows(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out);

}  // namespace fuselage::cpu
