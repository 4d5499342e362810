#include "backends/cpu/weights/pack.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cpu {
namespace {

/// Packs an f16 matrix as f32.
PackedMatrix pack_half(const std::byte* data, MatrixShape shape, PackedMatrix::Bytes to) {
  const auto* halves = reinterpret_cast<const std::uint16_t*>(data);
  std::vector<float> floats(static_cast<std::size_t>(shape.k * shape.n));
  std::transform(halves, halves + floats.size(), floats.begin(), half_to_float);
  shape.dtype = DType::f32;
  return pack(reinterpret_cast<const std::byte*>(floats.data()), shape, std::move(to));
}

}  // namespace

PackedMatrix pack(const std::byte* data, const MatrixShape& shape, PackedMatrix::Bytes to) {
  const auto k = static_cast<std::size_t>(shape.k);
  const auto n = static_cast<std::size_t>(shape.n);
  const std::size_t ld = shape.transposed ? k : n;
  if (shape.dtype == DType::bf16)
    return PackedMatrix::pack_bf16(reinterpret_cast<const std::uint16_t*>(data), k, n, ld,
                                   shape.transposed, std::move(to));
  if (shape.dtype == DType::f16) return pack_half(data, shape, std::move(to));
  if (!is_quantized(shape.dtype))
    return PackedMatrix::pack(reinterpret_cast<const float*>(data), k, n, ld, shape.transposed,
                              std::move(to));
  check(shape.transposed, "a quantized matrix is stored by columns");
  if (shape.dtype == DType::qint16) expect_bounded_sums(data, shape.n, shape.k);
  return PackedMatrix::pack_quantized(shape.dtype, data, k, n, std::move(to));
}

}  // namespace fuselage::cpu
