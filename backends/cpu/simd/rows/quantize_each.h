#pragma once

#include <cstddef>

#include "backends/cpu/simd/rows.h"
#include "base/quantized.h"

namespace fuselage::cpu {

/// out: the quantized vectors of the rows of x [rows, cols], a number after the other, by any
/// quantizer. out must not overlap x. KernelTable::quantize_rows does the same for most.
void quantize_each(const Quantizer& quantizer, const RowsIn& x, std::size_t rows, std::size_t cols,
                   const RowsOut& out);

}  // namespace fuselage::cpu
