#pragma once

#include <cstddef>

#include "fuselage/backends/cpu/simd/rows.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cpu {

/// out: the rows of x [rows, cols] quantized by any quantizer, with scalar code. out must not
/// overlap x. KernelTable::quantize_rows is the vectorized version for most quantizers.
void quantize_each(const Quantizer& quantizer, const RowsIn& x, std::size_t rows, std::size_t cols,
                   const RowsOut& out);

}  // namespace fuselage::cpu
