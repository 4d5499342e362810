#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "base/quantized.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {

inline const std::vector<DType> kQuantized = {DType::qint8, DType::qint16};

inline std::int32_t largest_of(DType dtype) { return dtype == DType::qint8 ? 127 : 32767; }

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

  /// Integers of at most `largest` in magnitude.
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
            [&](std::size_t, std::size_t) { return integers(engine); }};
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
  void put(std::size_t r, std::size_t i, std::int32_t q) {
    auto* integers = reinterpret_cast<std::byte*>(matrix_.row(r) + 1);
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
