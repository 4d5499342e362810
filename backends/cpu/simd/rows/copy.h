#pragma once

#include "fuselage/backends/cpu/simd/rows.h"

namespace fuselage::cpu {

/// Copies `rows` x `cols` elements; supports in.columns == 1. For concatenation call it once per
/// operand, with out.data at the operand's first column.
void copy_rows(const RowsIn& in, std::size_t rows, std::size_t cols, const RowsOut& out);

/// Sinusoidal position encodings, out [rows, dim]: with n = dim / 2 and inc = ln(10000) / (n - 1),
/// column i < n is sin(position * exp(-inc * i)) and column n + i the cosine, both of an angle that
/// is rounded to float. An odd last column is 0.
void sinusoid(const std::int32_t* positions, std::size_t rows, std::size_t dim, const RowsOut& out);

}  // namespace fuselage::cpu
