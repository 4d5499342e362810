#include <algorithm>
#include <functional>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

class NormalizeTest : public KernelTest {};

using Kernel = std::function<void(const RowsIn&, std::size_t rows, const RowsOut&)>;
using Reference = std::function<std::vector<double>(const std::vector<double>&)>;

// Runs a kernel over many shapes against its reference, each row alone, in place and through an
// index.
void expect_matches(std::size_t cols, const Kernel& kernel, const Reference& reference,
                    double tolerance) {
  for (const std::size_t rows : {1, 2, 4, 13}) {
    Matrix x = Matrix::random(rows, cols, 1, 3.0f);
    Matrix y = Matrix::result(rows, cols), indexed = Matrix::result(rows + 1, cols);
    kernel(x.in(), rows, y.out());
    ASSERT_TRUE(y.guards_intact());
    const Matrix fallback = Matrix::random(1, cols, 2);
    std::vector<std::int32_t> index = {-1};
    for (std::size_t r = rows; r-- > 0;) index.push_back(static_cast<std::int32_t>(r));
    kernel(x.in(index, fallback.row(0)), rows + 1, indexed.out());
    Matrix alone = Matrix::result(1, cols);
    kernel(fallback.in(), 1, alone.out());
    ASSERT_TRUE(same_bits(alone.row(0), indexed.row(0), cols));
    for (std::size_t r = 0; r < rows; ++r) {
      kernel(x.alone(r), 1, alone.out());
      ASSERT_TRUE(same_bits(alone.row(0), y.row(r), cols));
      ASSERT_TRUE(same_bits(indexed.row(rows - r), y.row(r), cols));
      const std::vector<double> want = reference({x.row(r), x.row(r) + cols});
      for (std::size_t c = 0; c < cols; ++c)
        ASSERT_NEAR(y(r, c), want[c], tolerance * (1.0 + std::fabs(want[c])))
            << "cols " << cols << " column " << c;
    }
    ASSERT_TRUE(alone.guards_intact());
    kernel(x.in(), rows, x.out());
    for (std::size_t r = 0; r < rows; ++r) ASSERT_TRUE(same_bits(x.row(r), y.row(r), cols));
  }
}

std::vector<double> log_softmax_of(std::vector<double> x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double v : x) sum += std::exp(v - largest);
  for (double& v : x) v -= largest + std::log(sum);
  return x;
}

std::vector<double> softmax_of(std::vector<double> x) {
  x = log_softmax_of(std::move(x));
  for (double& v : x) v = std::exp(v);
  return x;
}

std::vector<double> layer_norm_of(std::vector<double> x, const float* gain, const float* bias) {
  const double n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * (gain ? gain[i] : 1) + (bias ? bias[i] : 0);
  return x;
}

std::vector<double> rms_norm_of(std::vector<double> x, const float* scale) {
  double mean = 0;
  for (const double v : x) mean += v * v / static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = x[i] / std::sqrt(mean + 1e-6) * (scale ? scale[i] : 1);
  return x;
}

TEST_P(NormalizeTest, Softmax) {
  for (const std::size_t cols : kColumnCounts)
    expect_matches(
        cols,
        [&](const RowsIn& x, std::size_t rows, const RowsOut& y) {
          kernels().softmax(x, rows, cols, y);
        },
        softmax_of, 1e-6);
}

TEST_P(NormalizeTest, LogSoftmax) {
  for (const std::size_t cols : kColumnCounts)
    expect_matches(
        cols,
        [&](const RowsIn& x, std::size_t rows, const RowsOut& y) {
          kernels().log_softmax(x, rows, cols, y);
        },
        log_softmax_of, 1e-6);
}

TEST_P(NormalizeTest, LayerNorm) {
  for (const std::size_t cols : kColumnCounts) {
    const Matrix gain = Matrix::random(1, cols, 3), bias = Matrix::random(1, cols, 4);
    for (const float* g : {gain.row(0), static_cast<const float*>(nullptr)})
      for (const float* b : {bias.row(0), static_cast<const float*>(nullptr)})
        expect_matches(
            cols,
            [&](const RowsIn& x, std::size_t rows, const RowsOut& y) {
              kernels().layer_norm(x, g, b, 1e-5f, rows, cols, y);
            },
            [&](const std::vector<double>& x) { return layer_norm_of(x, g, b); },
            cols == 2 ? 1e-5 : 3e-6);
  }
}

TEST_P(NormalizeTest, RmsNorm) {
  for (const std::size_t cols : kColumnCounts) {
    const Matrix scale = Matrix::random(1, cols, 5);
    for (const float* s : {scale.row(0), static_cast<const float*>(nullptr)})
      expect_matches(
          cols,
          [&](const RowsIn& x, std::size_t rows, const RowsOut& y) {
            kernels().rms_norm(x, s, 1e-6f, rows, cols, y);
          },
          [&](const std::vector<double>& x) { return rms_norm_of(x, s); }, 2e-6);
  }
}

TEST_P(NormalizeTest, ExtremeLogits) {
  for (const std::size_t cols : {2, 5, 16, 37}) {
    Matrix x(1, cols), y = Matrix::result(1, cols);
    const auto fill = [&](float value) { std::fill_n(x.row(0), cols, value); };
    fill(-3e38f);
    x(0, 1) = 3e38f;
    kernels().softmax(x.in(), 1, cols, y.out());
    EXPECT_EQ(y(0, 0), 0.0f);
    EXPECT_EQ(y(0, 1), 1.0f);
    fill(1e4f);
    kernels().log_softmax(x.in(), 1, cols, y.out());
    EXPECT_NEAR(y(0, 0), -std::log(static_cast<double>(cols)), 1e-3);
    fill(-kInf);
    kernels().softmax(x.in(), 1, cols, y.out());
    EXPECT_EQ(y(0, 0), 0.0f);
    kernels().log_softmax(x.in(), 1, cols, y.out());
    EXPECT_EQ(y(0, 0), -kInf);
    x(0, cols - 1) = -2.5f;
    kernels().softmax(x.in(), 1, cols, y.out());
    EXPECT_EQ(y(0, 0), 0.0f);
    EXPECT_EQ(y(0, cols - 1), 1.0f);
    kernels().log_softmax(x.in(), 1, cols, y.out());
    EXPECT_EQ(y(0, 0), -kInf);
    EXPECT_EQ(y(0, cols - 1), 0.0f);
    fill(1.0f);
    x(0, 0) = kNaN;
    kernels().softmax(x.in(), 1, cols, y.out());
    EXPECT_TRUE(std::isnan(y(0, cols - 1)));
    EXPECT_TRUE(y.guards_intact());
  }
}

TEST_P(NormalizeTest, LargeVocabularyKeepsPrecision) {
  const std::size_t cols = 32001;
  const Matrix x = Matrix::random(1, cols, 6, 4.0f);
  Matrix y = Matrix::result(1, cols);
  kernels().log_softmax(x.in(), 1, cols, y.out());
  const std::vector<double> want = log_softmax_of({x.row(0), x.row(0) + cols});
  for (std::size_t c = 0; c < cols; ++c) ASSERT_NEAR(y(0, c), want[c], 4e-6);
}

TEST_P(NormalizeTest, ConstantRowIsCentred) {
  const std::vector<float> x(100, 1000.0f);
  Matrix y = Matrix::result(1, 100);
  kernels().layer_norm({x.data(), 100, nullptr, nullptr, 100}, nullptr, nullptr, 1e-5f, 1, 100,
                       y.out());
  for (std::size_t c = 0; c < 100; ++c) EXPECT_NEAR(y(0, c), 0.0f, 1e-6);
}

FUSELAGE_TEST_EVERY_LEVEL(NormalizeTest);

}  // namespace
}  // namespace fuselage::cpu
