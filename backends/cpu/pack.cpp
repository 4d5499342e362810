#include "backends/cpu/pack.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/quantized.h"
#include "base/tensor.h"

namespace fuselage::cpu {
namespace {

/// Throws Error unless the products of a matrix's vectors with any rows fit 32 bits.
void expect_bounded_sums(const std::byte* vector, const MatrixShape& shape) {
  for (std::int64_t n = 0; n < shape.n; ++n, vector += vector_bytes(shape.dtype, shape.k)) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < shape.k; ++i)
      sum += std::abs(quantized_at(shape.dtype, vector, i));
    if (sum > kLargestSumOfInt16Columns)
      throw Error(
          "the magnitudes of column {} of a qint16 matrix with {} rows sum up to {}, but beyond {} "
          "products may leave 32 bits; use --precision fp32 or quantize the model anew",
          n, shape.k, sum, kLargestSumOfInt16Columns);
  }
}

/// As floats.
PackedMatrix pack_half(const std::byte* data, MatrixShape shape) {
  const auto* halves = reinterpret_cast<const std::uint16_t*>(data);
  std::vector<float> floats(static_cast<std::size_t>(shape.k * shape.n));
  std::transform(halves, halves + floats.size(), floats.begin(), half_to_float);
  shape.dtype = DType::f32;
  return pack(reinterpret_cast<const std::byte*>(floats.data()), shape);
}

}  // namespace

PackedMatrix pack(const std::byte* data, const MatrixShape& shape) {
  const auto k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  const std::size_t ld = shape.transposed ? k : n;
  if (shape.dtype == DType::bf16)
    return PackedMatrix::pack_bf16(reinterpret_cast<const std::uint16_t*>(data), k, n, ld,
                                   shape.transposed);
  if (shape.dtype == DType::f16) return pack_half(data, shape);
  if (!is_quantized(shape.dtype))
    return PackedMatrix::pack(reinterpret_cast<const float*>(data), k, n, ld, shape.transposed);
  check(shape.transposed, "a quantized matrix is stored by columns");
  if (shape.dtype == DType::qint16) expect_bounded_sums(data, shape);
  return PackedMatrix::pack_quantized(shape.dtype, data, k, n);
}

}  // namespace fuselage::cpu
