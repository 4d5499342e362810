#include "backends/cpu/pack.h"

#include "base/error.h"
#include "base/quantized.h"

namespace fuselage::cpu {
PackedMatrix pack(const std::byte* data, const MatrixShape& shape) {
  const auto k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  const std::size_t ld = shape.transposed ? k : n;
  if (shape.dtype == DType::bf16)
    return PackedMatrix::pack_bf16(reinterpret_cast<const std::uint16_t*>(data), k, n, ld,
                                   shape.transposed);
  if (!is_quantized(shape.dtype))
    return PackedMatrix::pack(reinterpret_cast<const float*>(data), k, n, ld, shape.transposed);
  check(shape.transposed, "a quantized matrix is stored by columns");
  if (shape.dtype == DType::qint16) expect_bounded_sums(data, shape.n, shape.k);
  return PackedMatrix::pack_quantized(shape.dtype, data, k, n);
}

}  // namespace fuselage::cpu
