#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "base/numbers/logarithmic.h"
#include "fuselage/base/quantized.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {

/// Of rows, and of matrices.
inline const std::vector<DType> kQuantizedRows = {DType::qint8, DType::qint16};
inline const std::vector<DType> kQuantized = {DType::qint8, DType::qint16, DType::qlog4};

inline std::int32_t largest_of(DType dtype) {
  if (dtype == DType::qlog4) return 128;
  return dtype == DType::qint8 ? 127 : 32767;
}

/// Quantized vectors with integers of choice, as the rows of a matrix.
class QuantizedVectors {
 public:
  /// Vector r holds integer(r, i) and has the scale scale(r).
  QuantizedVectors(DType dtype, std::size_t count, std::size_t k, std::size_t gap,
                   const std::function<float(std::size_t)>& scale,
                   const std::function<std::int32_t(std::size_t, std::size_t)>& integer)
      : dtype_(dtype),
        k_(k),
        matrix_(count, vector_bytes(dtype, static_cast<std::int64_t>(k)) / sizeof(float), gap) {
    for (std::size_t r = 0; r < count; ++r) {
      std::fill_n(matrix_.row(r), matrix_.cols(), 0.0f);
      matrix_(r, 0) = scale(r);
      for (std::size_t i = 0; i < k; ++i) put(r, i, integer(r, i));
    }
  }

  /// Integers of at most `largest` in magnitude; those of qlog4 are powers of two.
  static QuantizedVectors random(DType dtype, std::size_t count, std::size_t k,
                                 std::int32_t largest, unsigned seed, std::size_t gap) {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<std::int32_t> integers(-largest, largest);
    std::uniform_real_distribution<float> scales(0.001f, 0.1f);
    return {dtype,
            count,
            k,
            gap,
            [&](std::size_t) { return scales(engine); },
            [&](std::size_t, std::size_t) {
              const std::int32_t q = integers(engine);
              return dtype == DType::qlog4 ? power_below(q) : q;
            }};
  }

  std::size_t count() const { return matrix_.rows(); }
  std::size_t k() const { return k_; }
  const Matrix& matrix() const { return matrix_; }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(matrix_.row(0)); }
  float& scale(std::size_t r) { return matrix_(r, 0); }
  float scale(std::size_t r) const { return matrix_(r, 0); }
  std::int32_t at(std::size_t r, std::size_t i) const {
    return quantized_at(dtype_, reinterpret_cast<const std::byte*>(matrix_.row(r)),
                        static_cast<std::int64_t>(i));
  }

 private:
  /// The power of two of its highest bit, with its sign; 1 for 0.
  static std::int32_t power_below(std::int32_t q) {
    const auto magnitude = static_cast<std::int32_t>(
        std::bit_floor(static_cast<std::uint32_t>(std::max(std::abs(q), 1))));
    return q < 0 ? -magnitude : magnitude;
  }

  void put(std::size_t r, std::size_t i, std::int32_t q) {
    auto* integers = reinterpret_cast<std::byte*>(matrix_.row(r) + 1);
    if (dtype_ == DType::qlog4)
      return put_nibble(integers, static_cast<std::int64_t>(i), q < 0,
                        std::countr_zero(static_cast<std::uint32_t>(q)));
    const std::size_t size = size_of(dtype_);
    std::memcpy(integers + i * size, &q, size);
  }

  DType dtype_;
  std::size_t k_;
  Matrix matrix_;
};

/// The product of two quantized vectors: the exact sum, as a float, times each scale.
inline float exact_product(const QuantizedVectors& a, std::size_t r, const QuantizedVectors& w,
                           std::size_t c) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < a.k(); ++i) sum += static_cast<std::int64_t>(a.at(r, i)) * w.at(c, i);
  EXPECT_EQ(sum, static_cast<std::int32_t>(sum)) << "the test's sum does not fit";
  return static_cast<float>(sum) * w.scale(c) * a.scale(r);
}

}  // namespace fuselage::cpu
