#include "fuselage/base/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/numbers/logarithmic.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kHeader = sizeof(float);

std::size_t round_up_to_4(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

std::int32_t range_of(DType dtype) {
  if (dtype == DType::qlog4) return 1 << kTopExponent;
  return dtype == DType::qint8 ? 127 : 32767;
}

/// The bits of |x|, ordered as the magnitudes; infinities and NaN are above all numbers.
std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7fffffffu; }

std::int32_t nearest(float x, float inverse, std::int32_t largest) {
  const float q = std::nearbyint(x * inverse);
  const auto bound = static_cast<float>(largest);
  return static_cast<std::int32_t>(std::clamp(q, -bound, bound));
}

/// The nearest value among 0 and ± powers of two.
std::int32_t nearest_power(float q) {
  if (std::fabs(q) < 0.5f) return 0;
  const std::int32_t magnitude = 1 << nearest_exponent(std::fabs(q), 0, kTopRowExponent);
  return q < 0 ? -magnitude : magnitude;
}

void put(DType dtype, std::byte* vector, std::int64_t i, std::int32_t q) {
  if (dtype == DType::qint8) {
    const auto narrow = static_cast<std::int8_t>(q);
    std::memcpy(vector + kHeader + i, &narrow, sizeof narrow);
  } else {
    const auto narrow = static_cast<std::int16_t>(q);
    std::memcpy(vector + kHeader + 2 * i, &narrow, sizeof narrow);
  }
}

void quantize_to_nibbles(int bits, const float* x, std::int64_t k, float inverse,
                         std::byte* nibbles) {
  const int least = least_exponent(bits);
  for (std::int64_t i = 0; i < k; ++i) {
    const int exponent = nearest_exponent(std::fabs(x[i]) * inverse, least, kTopExponent);
    put_nibble(nibbles, i, x[i] < 0, exponent);
  }
}

void verify_logarithms(const Quantizer& quantizer) {
  const auto& [to, largest, largest_sum, scale, logarithmic, bits, fit] = quantizer;
  if (logarithmic && (to != DType::qint8 || largest != 1 << kTopRowExponent))
    throw Error(fmt::format("powers of two in rows are qint8 up to {}, not {} up to {}",
                            1 << kTopRowExponent, to_string(to), largest));
  if (to != DType::qlog4) return;
  if (bits < 1 || bits > 4)
    throw Error(fmt::format("qlog4 numbers have 1 to 4 bits, not {}", bits));
  if (largest != 1 << kTopExponent || largest_sum != 0)
    throw Error(fmt::format(
        "integers of qlog4 go up to {}, without a bound on their sum, not up to {} and {}",
        1 << kTopExponent, largest, largest_sum));
}

}  // namespace

void Quantizer::verify() const {
  if (!is_quantized(to)) throw Error(fmt::format("{} is not a quantized type", to_string(to)));
  verify_logarithms(*this);
  if (largest < 1 || largest > range_of(to))
    throw Error(
        fmt::format("integers of {} go up to {}, not {}", to_string(to), range_of(to), largest));
  if (largest_sum < 0)
    throw Error(fmt::format("a sum of magnitudes is bounded by {}", largest_sum));
  if (scale != 0 && !(scale >= kLeastScale && std::isfinite(scale)))
    throw Error(fmt::format("a scale of {}: choose at least {}, or 0 for a scale per vector", scale,
                            kLeastScale));
  if (scale != 0 && largest_sum != 0)
    throw Error(
        fmt::format("a scale of {} is given, so sums cannot be bounded by {}: choose one of them",
                    scale, largest_sum));
}

bool is_quantized(DType dtype) {
  return dtype == DType::qint8 || dtype == DType::qint16 || dtype == DType::qlog4;
}

DType row_type_of(DType matrix) {
  if (!is_quantized(matrix)) return DType::f32;
  return matrix == DType::qlog4 ? DType::qint8 : matrix;
}

std::size_t vector_bytes(DType dtype, std::int64_t k) {
  const auto count = static_cast<std::size_t>(k);
  const std::size_t elements = dtype == DType::qlog4 ? (count + 1) / 2 : count * size_of(dtype);
  return is_quantized(dtype) ? kHeader + round_up_to_4(elements) : elements;
}

float quantization_scale(const Quantizer& quantizer, float top) {
  if (!std::isfinite(top)) return std::numeric_limits<float>::quiet_NaN();
  if (quantizer.scale > 0) return quantizer.scale;
  const float scale = top / static_cast<float>(quantizer.largest);
  return scale < kLeastScale ? 0.0f : scale;
}

float quantization_scale(const Quantizer& quantizer, const float* x, std::int64_t k) {
  std::uint32_t bits = 0;
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    bits = std::max(bits, magnitude_bits(x[i]));
    sum += std::fabs(static_cast<double>(x[i]));
  }
  const float scale = quantization_scale(quantizer, std::bit_cast<float>(bits));
  if (!(scale > 0) || quantizer.scale > 0) return scale;
  if (quantizer.to == DType::qlog4)
    return logarithmic_scale(quantizer.fit, quantizer.bits, x, k, std::bit_cast<float>(bits));
  if (quantizer.largest_sum == 0) return scale;
  // Rounding may add half a unit to each element.
  const double bound = static_cast<double>(quantizer.largest_sum) - 0.5 * static_cast<double>(k);
  check(bound >= 1, "quantized: a bound on a sum that rounding alone can exceed");
  const double needed = sum / bound;
  if (scale >= needed) return scale;
  return std::nextafter(static_cast<float>(needed), std::numeric_limits<float>::infinity());
}

void quantize_vector(const Quantizer& quantizer, const float* x, std::int64_t k, float scale,
                     std::byte* out) {
  std::memset(out, 0, vector_bytes(quantizer.to, k));
  std::memcpy(out, &scale, sizeof scale);
  if (!(scale > 0)) return;
  const float inverse = 1 / scale;
  if (quantizer.to == DType::qlog4)
    return quantize_to_nibbles(quantizer.bits, x, k, inverse, out + kHeader);
  for (std::int64_t i = 0; i < k; ++i)
    put(quantizer.to, out, i,
        quantizer.logarithmic ? nearest_power(x[i] * inverse)
                              : nearest(x[i], inverse, quantizer.largest));
}

void dequantize_vector(DType dtype, const std::byte* in, std::int64_t k, float* x) {
  const float scale = scale_of(in);
  for (std::int64_t i = 0; i < k; ++i)
    x[i] = scale * static_cast<float>(quantized_at(dtype, in, i));
}

Tensor quantized(const Quantizer& quantizer, const Tensor& tensor) {
  const Tensor wide = tensor.to_f32();
  Tensor result(quantizer.to, tensor.shape());
  const std::int64_t k = tensor.shape().empty() ? 1 : tensor.shape().back();
  std::byte* out = result.mutable_bytes();
  for (std::int64_t i = 0; i < wide.size(); i += k, out += vector_bytes(quantizer.to, k)) {
    const float* x = wide.data<float>() + i;
    quantize_vector(quantizer, x, k, quantization_scale(quantizer, x, k), out);
  }
  return result;
}

void expect_bounded_sums(const std::byte* vectors, std::int64_t n, std::int64_t k) {
  for (std::int64_t column = 0; column < n; ++column) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < k; ++i) sum += std::abs(quantized_at(DType::qint16, vectors, i));
    if (sum > kLargestSumOfInt16Columns)
      throw Error(fmt::format(
          "the magnitudes of column {} of a qint16 matrix with {} rows sum up to {}, but beyond {} "
          "products may leave 32 bits; use precision fp32 or quantize the model anew",
          column, k, sum, kLargestSumOfInt16Columns));
    vectors += vector_bytes(DType::qint16, k);
  }
}

float scale_of(const std::byte* vector) {
  float scale = 0;
  std::memcpy(&scale, vector, sizeof scale);
  return scale;
}

std::int32_t quantized_at(DType dtype, const std::byte* vector, std::int64_t i) {
  if (dtype == DType::qlog4) return nibble_value(vector + kHeader, i);
  if (dtype == DType::qint8)
    return std::bit_cast<std::int8_t>(
        static_cast<std::uint8_t>(vector[kHeader + static_cast<std::size_t>(i)]));
  std::int16_t q = 0;
  std::memcpy(&q, vector + kHeader + 2 * i, sizeof q);
  return q;
}

}  // namespace fuselage
