#include "backends/cpu/simd/rows/quantize_each.h"

#include <cstdint>

namespace fuselage::cpu {

void quantize_each(const Quantizer& quantizer, const RowsIn& x, std::size_t rows, std::size_t cols,
                   const RowsOut& out) {
  const auto k = static_cast<std::int64_t>(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = row_of(x, r, cols);
    quantize_vector(quantizer, row, k, quantization_scale(quantizer, row, k),
                    reinterpret_cast<std::byte*>(out.data + r * out.stride));
  }
}

}  // namespace fuselage::cpu
