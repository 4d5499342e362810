#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/runtime/isa.h"
#include "backends/cpu/simd/table.h"

namespace fuselage::cpu {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline const float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Around every vector width and its multiples.
inline const std::vector<std::size_t> kColumnCounts = {1,  2,  3,  7,  8,  15,  16, 17,
                                                       31, 33, 63, 64, 65, 100, 257};
/// The same as widths of a head or a small last dimension.
inline const std::vector<std::size_t> kWidths = {1, 2, 3, 7, 8, 15, 16, 17, 33, 64, 65};

/// A matrix that starts off any vector boundary, with gaps between its rows. An operand ends with
/// its last element, so that a sanitizer sees a read past it; a result is followed by guards.
class Matrix {
 public:
  static constexpr float kGuard = -987654.25f;

  Matrix(std::size_t rows, std::size_t cols, std::size_t gap = 3, std::size_t guards = 0)
      : rows_(rows),
        cols_(cols),
        stride_(cols + gap),
        storage_(1 + (rows ? (rows - 1) * stride_ + cols : 0) + guards, kGuard) {}

  /// Normally distributed elements.
  static Matrix random(std::size_t rows, std::size_t cols, unsigned seed, float scale = 1.0f,
                       std::size_t gap = 3) {
    Matrix m(rows, cols, gap);
    std::mt19937 engine(seed + static_cast<unsigned>(rows * 1000 + cols));
    std::normal_distribution<float> normal(0.0f, scale);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) m(r, c) = normal(engine);
    return m;
  }

  static Matrix result(std::size_t rows, std::size_t cols, std::size_t gap = 3) {
    return Matrix(rows, cols, gap, 40);
  }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t stride() const { return stride_; }
  float* row(std::size_t r) { return storage_.data() + 1 + r * stride_; }
  const float* row(std::size_t r) const { return storage_.data() + 1 + r * stride_; }
  float& operator()(std::size_t r, std::size_t c) { return row(r)[c]; }
  float operator()(std::size_t r, std::size_t c) const { return row(r)[c]; }

  RowsIn in() const { return {row(0), stride_, nullptr, nullptr, cols_}; }
  RowsIn in(const std::vector<std::int32_t>& index, const float* fallback) const {
    return {row(0), stride_, index.data(), fallback, cols_};
  }
  /// Row r alone.
  RowsIn alone(std::size_t r) const { return {row(r), stride_, nullptr, nullptr, cols_}; }
  RowsOut out() { return {row(0), stride_}; }

  /// Whether nothing was written outside the elements.
  bool guards_intact() const {
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      const bool element = i > 0 && (i - 1) / stride_ < rows_ && (i - 1) % stride_ < cols_;
      if (!element && storage_[i] != kGuard) return false;
    }
    return true;
  }

 private:
  std::size_t rows_;
  std::size_t cols_;
  std::size_t stride_;
  std::vector<float> storage_;
};

/// Equal bits, so that NaN equals itself and 0 differs from -0.
inline bool same_bits(const float* a, const float* b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  return true;
}

/// Distance in units of the last place of `want` as a float; 0 for equal infinities and NaNs.
inline double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1e30;
  const float size = std::fabs(rounded);
  const double ulp = static_cast<double>(std::nextafter(size, kInf)) - size;
  return std::fabs(static_cast<double>(got) - want) / ulp;
}

/// Runs each test at the level named by its parameter.
class KernelTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_isa(GetParam()); }
};

inline std::string level_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

#define FUSELAGE_TEST_EVERY_LEVEL(suite) \
  INSTANTIATE_TEST_SUITE_P(Level, suite, ::testing::ValuesIn(supported_isas()), level_name)

}  // namespace fuselage::cpu
