#include "models/finite_weights.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

/// Index of the first of n floating-point numbers, given as `Bits`, that is NaN or infinite: its
/// `exponent` bits are all ones. Blocks are reduced without a branch so that compilers vectorize
/// them.
template <typename Bits>
std::optional<std::int64_t> first_not_finite(const Bits* numbers, std::int64_t n, Bits exponent) {
  constexpr std::int64_t kBlock = 4096;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(n, begin + kBlock);
    Bits largest = 0;
    for (std::int64_t i = begin; i < end; ++i)
      largest = std::max<Bits>(largest, numbers[i] & exponent);
    if (largest != exponent) continue;
    for (std::int64_t i = begin; i < end; ++i)
      if ((numbers[i] & exponent) == exponent) return i;
  }
  return std::nullopt;
}

/// Index of the first quantized vector whose scale is not finite.
std::optional<std::int64_t> first_bad_scale(const Tensor& tensor) {
  if (tensor.size() == 0) return std::nullopt;
  const std::int64_t k = tensor.shape().empty() ? 1 : tensor.shape().back();
  const std::size_t stride = vector_bytes(tensor.dtype(), k);
  const std::byte* vector = tensor.bytes();
  for (std::int64_t i = 0; i < tensor.size() / k; ++i, vector += stride)
    if (!std::isfinite(scale_of(vector))) return i;
  return std::nullopt;
}

std::optional<std::int64_t> first_not_finite(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::f16:
      return first_not_finite<std::uint16_t>(tensor.data<std::uint16_t>(), tensor.size(), 0x7c00);
    case DType::bf16:
      return first_not_finite<std::uint16_t>(tensor.data<std::uint16_t>(), tensor.size(), 0x7f80);
    case DType::f32:
      return first_not_finite<std::uint32_t>(tensor.data<std::uint32_t>(), tensor.size(),
                                             0x7f800000);
    case DType::f64:
      return first_not_finite<std::uint64_t>(tensor.data<std::uint64_t>(), tensor.size(),
                                             0x7ff0000000000000);
    default:
      return std::nullopt;
  }
}

float number_at(const Tensor& tensor, std::int64_t i) {
  switch (tensor.dtype()) {
    case DType::f16:
      return half_to_float(tensor.data<std::uint16_t>()[i]);
    case DType::bf16:
      return bfloat16_to_float(tensor.data<std::uint16_t>()[i]);
    case DType::f64:
      return static_cast<float>(tensor.data<double>()[i]);
    default:
      return tensor.data<float>()[i];
  }
}

}  // namespace

void expect_finite(const Tensor& tensor, const std::string& name, const std::string& where) {
  if (is_quantized(tensor.dtype())) {
    if (const auto vector = first_bad_scale(tensor))
      throw Error(
          fmt::format("{}: parameter {}: the scale of its vector {} is not a finite number; the "
                      "file is damaged",
                      where, in_quotes(name), *vector));
  } else if (const auto index = first_not_finite(tensor)) {
    throw Error(
        fmt::format("{}: parameter {} holds {} at element {}; weights must be finite, so the file "
                    "is damaged or its training diverged",
                    where, in_quotes(name), number_at(tensor, *index), *index));
  }
  give_back_mapped(tensor.mapped_bytes());
}

void expect_finite(const TensorMap& weights, const std::string& where) {
  for (const auto& [name, tensor] : weights)
    if (tensor.source() == nullptr || tensor.source()->conversion.empty())
      expect_finite(tensor, name, where);
}

}  // namespace fuselage
