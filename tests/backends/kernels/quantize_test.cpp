#include "fuselage/base/error.h"
#include "tests/backends/kernels/quantized_vectors.h"

namespace fuselage::cpu::quantize_test {
namespace {

class QuantizeTest : public KernelTest {};

std::vector<Quantizer> quantizers() {
  return {{.to = DType::qint8, .largest = 127},
          {.to = DType::qint8, .largest = 63},
          {.to = DType::qint16, .largest = 32767},
          {.to = DType::qint16, .largest = 1023},
          {.to = DType::qint8, .largest = 127, .scale = 0.01f},
          {.to = DType::qint16, .largest = 32767, .scale = 3e-38f},
          {.to = DType::qint16, .largest = 8000, .scale = 1e-3f},
          {.to = DType::qint8, .largest = 64, .logarithmic = true},
          {.to = DType::qint8, .largest = 64, .scale = 0.01f, .logarithmic = true}};
}

std::vector<float> reference(const Quantizer& quantizer, const float* x, std::size_t cols) {
  const auto k = static_cast<std::int64_t>(cols);
  std::vector<float> vector(vector_bytes(quantizer.to, k) / sizeof(float));
  quantize_vector(quantizer, x, k, quantization_scale(quantizer, x, k),
                  reinterpret_cast<std::byte*>(vector.data()));
  return vector;
}

void expect_as_reference(const Quantizer& quantizer, const Matrix& x) {
  const std::size_t elements =
      vector_bytes(quantizer.to, static_cast<std::int64_t>(x.cols())) / sizeof(float);
  Matrix out = Matrix::result(x.rows(), elements);
  kernels().quantize_rows(quantizer, x.in(), x.rows(), x.cols(), out.out());
  for (std::size_t r = 0; r < x.rows(); ++r)
    ASSERT_TRUE(same_bits(reference(quantizer, x.row(r), x.cols()).data(), out.row(r), elements))
        << "row " << r << ", " << x.cols() << " columns to " << to_string(quantizer.to)
        << ", at most " << quantizer.largest;
  ASSERT_TRUE(out.guards_intact());
}

TEST_P(QuantizeTest, HasTheBitsOfTheReference) {
  for (const Quantizer& quantizer : quantizers())
    for (const std::size_t cols : kColumnCounts)
      for (const float size : {1.0f, 1e-30f, 1e-38f, 1e-44f, 1e37f})
        ASSERT_NO_FATAL_FAILURE(expect_as_reference(quantizer, Matrix::random(5, cols, 1, size)));
}

// Halves between integers, and numbers right beside them.
TEST_P(QuantizeTest, RoundsTiesToEven) {
  for (const Quantizer& quantizer : quantizers()) {
    const auto largest = static_cast<std::size_t>(quantizer.largest);
    Matrix x(3, 4 * largest + 1);
    const float unit = quantizer.scale > 0 ? quantizer.scale : 0.25f;
    for (std::size_t c = 0; c < x.cols(); ++c) {
      const float half = (static_cast<float>(c) / 2 - static_cast<float>(largest)) * unit;
      x(0, c) = half;
      x(1, c) = std::nextafter(half, kInf);
      x(2, c) = std::nextafter(half, -kInf);
    }
    ASSERT_NO_FATAL_FAILURE(expect_as_reference(quantizer, x));
  }
}

TEST_P(QuantizeTest, FindsTheLargestAnywhere) {
  for (const std::size_t cols : {1, 7, 40, 65})
    for (std::size_t at = 0; at < cols; ++at) {
      Matrix x = Matrix::random(2, cols, 2);
      x(0, at) = -100;
      x(1, at) = 100;
      ASSERT_NO_FATAL_FAILURE(expect_as_reference({}, x));
    }
}

TEST_P(QuantizeTest, WhatIsNoNumberMakesTheScaleNaN) {
  for (const Quantizer& quantizer : quantizers())
    for (const float bad : {kNaN, kInf, -kInf}) {
      Matrix x = Matrix::random(3, 37, 3);
      x(0, 2) = bad;
      x(1, 36) = bad;
      ASSERT_NO_FATAL_FAILURE(expect_as_reference(quantizer, x));
      Matrix out = Matrix::result(3, 20);
      kernels().quantize_rows(quantizer, x.in(), 3, 37, out.out());
      EXPECT_TRUE(std::isnan(out(0, 0)));
      EXPECT_TRUE(std::isnan(out(1, 0)));
      EXPECT_GT(out(2, 0), 0);
    }
}

TEST_P(QuantizeTest, ZerosAndNothing) {
  for (const Quantizer& quantizer : quantizers())
    for (const std::size_t cols : {0, 1, 2, 3, 4, 9}) {
      Matrix x(2, cols);
      std::fill_n(x.row(0), cols, 0.0f);
      std::fill_n(x.row(1), cols, -0.0f);
      ASSERT_NO_FATAL_FAILURE(expect_as_reference(quantizer, x));
    }
}

TEST_P(QuantizeTest, ReadsRowsThroughAnIndex) {
  const Matrix table = Matrix::random(5, 33, 4), fallback = Matrix::random(1, 33, 5);
  const std::vector<std::int32_t> index = {4, -1, 0, 4};
  Matrix out = Matrix::result(4, 10);
  kernels().quantize_rows({}, table.in(index, fallback.row(0)), 4, 33, out.out());
  for (std::size_t r = 0; r < 4; ++r) {
    const float* from = index[r] < 0 ? fallback.row(0) : table.row(index[r]);
    EXPECT_TRUE(same_bits(reference({}, from, 33).data(), out.row(r), 10));
  }
  EXPECT_TRUE(out.guards_intact());
}

// Right below, at and above the middle between two powers, and between 0 and 1.
TEST_P(QuantizeTest, PowersOfTwoBeginHalfWay) {
  const Quantizer quantizer{.to = DType::qint8, .largest = 64, .scale = 0.25f, .logarithmic = true};
  const std::vector<float> middles = {0.5f, 1.5f, 3, 6, 12, 24, 48, 96, 1e30f};
  Matrix x(2, 3 * middles.size());
  for (std::size_t i = 0; i < middles.size(); ++i) {
    const float middle = middles[i] * quantizer.scale;
    const float around[] = {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, kInf)};
    for (std::size_t j = 0; j < 3; ++j) {
      x(0, 3 * i + j) = around[j];
      x(1, 3 * i + j) = -around[j];
    }
  }
  ASSERT_NO_FATAL_FAILURE(expect_as_reference(quantizer, x));
  Matrix out = Matrix::result(2, 8);
  kernels().quantize_rows(quantizer, x.in(), 2, x.cols(), out.out());
  const auto* integers = reinterpret_cast<const std::int8_t*>(out.row(1) + 1);
  EXPECT_EQ(std::vector<int>(integers, integers + 6), (std::vector<int>{0, -1, -1, -1, -2, -2}));
}

TEST_P(QuantizeTest, RefusesABoundOnSumsAndAFit) {
  const Matrix x = Matrix::random(1, 8, 6);
  Matrix out = Matrix::result(1, 3);
  EXPECT_THROW(kernels().quantize_rows({.largest_sum = 1000}, x.in(), 1, 8, out.out()),
               InternalError);
  EXPECT_THROW(
      kernels().quantize_rows({.to = DType::qlog4, .largest = 128}, x.in(), 1, 8, out.out()),
      InternalError);
}

FUSELAGE_TEST_EVERY_LEVEL(QuantizeTest);

}  // namespace
}  // namespace fuselage::cpu::quantize_test
