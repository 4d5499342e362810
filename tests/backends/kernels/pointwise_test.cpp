#include <algorithm>

#include "ops/arithmetic/approximate_activations.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu::pointwise_test {
namespace {

class PointwiseTest : public KernelTest {};

constexpr Unary kUnaries[] = {
    Unary::neg,           Unary::sigmoid,    Unary::tanh, Unary::sigmoid_fast, Unary::tanh_fast,
    Unary::sigmoid_table, Unary::tanh_table, Unary::relu, Unary::swish,        Unary::gelu,
    Unary::exp,           Unary::log,        Unary::sqrt, Unary::abs};
constexpr Binary kBinaries[] = {Binary::add,        Binary::sub,       Binary::mul,
                                Binary::div,        Binary::max,       Binary::min,
                                Binary::equal,      Binary::not_equal, Binary::less,
                                Binary::less_equal, Binary::greater,   Binary::greater_equal};

double reference(Unary op, double x) {
  switch (op) {
    case Unary::neg:
      return -x;
    case Unary::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Unary::tanh:
      return std::tanh(x);
    case Unary::sigmoid_fast:
      return sigmoid_fast(x);
    case Unary::tanh_fast:
      return tanh_fast(x);
    case Unary::sigmoid_table:
      return sigmoid_table(x);
    case Unary::tanh_table:
      return tanh_table(x);
    case Unary::relu:
      return x < 0 ? 0 : x;
    case Unary::swish:
      return x / (1.0 + std::exp(-x));
    case Unary::gelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Unary::exp:
      return std::exp(x);
    case Unary::log:
      return std::log(x);
    case Unary::sqrt:
      return std::sqrt(x);
    case Unary::abs:
      return std::fabs(x);
  }
  return 0;
}

float reference(Binary op, float a, float b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::mul:
      return a * b;
    case Binary::div:
      return a / b;
    case Binary::max:
      return std::max(a, b);
    case Binary::min:
      return std::min(a, b);
    case Binary::equal:
      return a == b ? 1 : 0;
    case Binary::not_equal:
      return a != b ? 1 : 0;
    case Binary::less:
      return a < b ? 1 : 0;
    case Binary::less_equal:
      return a <= b ? 1 : 0;
    case Binary::greater:
      return a > b ? 1 : 0;
    case Binary::greater_equal:
      return a >= b ? 1 : 0;
  }
  return 0;
}

float apply(Unary op, float x) {
  float y = 0;
  kernels().unary(op, {&x, 1, nullptr, nullptr, 1}, 1, 1, {&y, 1});
  return y;
}

// The largest error in ulps over `count` evenly spaced points of [low, high].
double worst_ulps(Unary op, float low, float high, std::size_t count = 200001) {
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = low + (high - low) * (static_cast<float>(i) / static_cast<float>(count - 1));
  kernels().unary(op, {x.data(), count, nullptr, nullptr, count}, 1, count, {y.data(), count});
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, ulps(y[i], reference(op, x[i])));
  return worst;
}

// The same over `count` of all floats between two of the same sign, near 0 and far from it.
double worst_ulps_of_all(Unary op, float nearest, float farthest, std::size_t count = 200001) {
  const auto first = std::bit_cast<std::uint32_t>(nearest);
  const auto range = static_cast<double>(std::bit_cast<std::uint32_t>(farthest) - first);
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = std::bit_cast<float>(first + static_cast<std::uint32_t>(range * static_cast<double>(i) /
                                                                   static_cast<double>(count - 1)));
  kernels().unary(op, {x.data(), count, nullptr, nullptr, count}, 1, count, {y.data(), count});
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, ulps(y[i], reference(op, x[i])));
  return worst;
}

TEST_P(PointwiseTest, AccuracyOfTheFunctions) {
  const float most = std::numeric_limits<float>::max();
  const struct {
    const char* name;
    double error, bound;
  } measured[] = {
      {"exp", worst_ulps(Unary::exp, -110.0f, 90.0f), 1.25},
      {"exp near 0", worst_ulps(Unary::exp, -1.0f, 1.0f), 1.25},
      {"exp of all positive", worst_ulps_of_all(Unary::exp, 0.0f, kInf), 1.25},
      {"exp of all negative", worst_ulps_of_all(Unary::exp, -0.0f, -kInf), 1.25},
      {"log", worst_ulps_of_all(Unary::log, 0.0f, kInf), 1},
      {"log near 1", worst_ulps(Unary::log, 0.5f, 2.0f), 1},
      {"sigmoid", worst_ulps(Unary::sigmoid, -110.0f, 110.0f), 2.5},
      {"sigmoid near 0", worst_ulps(Unary::sigmoid, -4.0f, 4.0f), 2.5},
      {"sigmoid of all positive", worst_ulps_of_all(Unary::sigmoid, 0.0f, kInf), 2.5},
      {"sigmoid of all negative", worst_ulps_of_all(Unary::sigmoid, -0.0f, -kInf), 2.5},
      {"tanh", worst_ulps(Unary::tanh, -12.0f, 12.0f), 3},
      {"tanh near 0", worst_ulps(Unary::tanh, -0.5f, 0.5f), 3},
      {"tanh of all positive", worst_ulps_of_all(Unary::tanh, 0.0f, kInf), 3},
      {"tanh of all negative", worst_ulps_of_all(Unary::tanh, -0.0f, -kInf), 3},
      {"swish", worst_ulps(Unary::swish, -80.0f, 80.0f), 3.5},
      {"swish of all positive", worst_ulps_of_all(Unary::swish, 0.0f, most), 3.5},
      {"gelu of all positive", worst_ulps_of_all(Unary::gelu, 0.0f, most), 8},
      // In gelu's lower tail the rounding of x^2 / 2 counts in the exponent.
      {"gelu", worst_ulps(Unary::gelu, -1.0f, 14.0f), 8},
      {"gelu in its tail", worst_ulps(Unary::gelu, -4.0f, 0.0f), 16},
  };
  for (const auto& [name, error, bound] : measured) {
    RecordProperty(std::string(name), std::to_string(error));
    EXPECT_LE(error, bound) << name;
  }
}

// The definitions of the ops are what kernels compute, to the last bit.
TEST_P(PointwiseTest, ApproximationsAreTheirDefinitions) {
  const std::pair<Unary, float (*)(float)> approximations[] = {
      {Unary::sigmoid_fast, sigmoid_fast<float>},
      {Unary::tanh_fast, tanh_fast<float>},
      {Unary::sigmoid_table, sigmoid_table<float>},
      {Unary::tanh_table, tanh_table<float>}};
  // Every 4099th of all floats, and those in the middle between two entries of a table.
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099)
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (float middle = -8.0625f; middle < 8.1f; middle += 0.0625f) x.push_back(middle);
  std::vector<float> y(x.size());
  for (const auto& [op, definition] : approximations) {
    kernels().unary_row(op, false)(x.data(), x.size(), y.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float want = definition(x[i]);
      ASSERT_TRUE(same_bits(&y[i], &want, 1) || (std::isnan(y[i]) && std::isnan(x[i])))
          << static_cast<int>(op) << " of " << x[i] << " is " << y[i] << ", not " << want;
    }
  }
}

TEST_P(PointwiseTest, TanhIsOddAndNeverExceedsOne) {
  for (float x = 0; x < 12; x += 0.00137f) {
    const float y = apply(Unary::tanh, x);
    ASSERT_LE(y, 1.0f) << x;
    ASSERT_EQ(apply(Unary::tanh, -x), -y) << x;
  }
  EXPECT_TRUE(std::signbit(apply(Unary::tanh, -0.0f)));
}

// As the op defines it: which operand is taken matters for NaN and for zeros of both signs.
TEST_P(PointwiseTest, MaxAndMinTakeTheSecondInDoubt) {
  const std::pair<float, float> doubts[] = {
      {0.0f, -0.0f}, {-0.0f, 0.0f}, {kNaN, 1.0f}, {1.0f, kNaN}, {kInf, kNaN}};
  for (const Binary op : {Binary::max, Binary::min})
    for (const auto& [a, b] : doubts) {
      float y = 0;
      kernels().binary_row(op, false, false)(&a, &b, 1, &y);
      EXPECT_TRUE(same_bits(&y, &b, 1)) << a << " and " << b;
    }
}

TEST_P(PointwiseTest, ComparisonsOfTiesInfinitiesAndNaN) {
  const float numbers[] = {0.0f, -0.0f, 1.0f, -1.0f, 1e-40f, kInf, -kInf, kNaN};
  for (const Binary op : kBinaries) {
    if (op < Binary::equal) continue;
    for (const float a : numbers)
      for (const float b : numbers) {
        float y = -1;
        kernels().binary_row(op, false, false)(&a, &b, 1, &y);
        EXPECT_EQ(y, reference(op, a, b)) << static_cast<int>(op) << ": " << a << " and " << b;
      }
  }
}

TEST_P(PointwiseTest, GeluIsWithinOneMillionth) {
  for (float x = -14.0f; x < 6.0f; x += 0.00137f)
    ASSERT_NEAR(apply(Unary::gelu, x), reference(Unary::gelu, x), 1e-6) << x;
}

TEST_P(PointwiseTest, ExtremeInputs) {
  EXPECT_EQ(apply(Unary::sigmoid, 100.0f), 1.0f);
  EXPECT_NEAR(apply(Unary::sigmoid, -100.0f), 3.78e-44f, 3e-45f);
  EXPECT_EQ(apply(Unary::sigmoid, kInf), 1.0f);
  EXPECT_EQ(apply(Unary::sigmoid, -kInf), 0.0f);
  EXPECT_EQ(apply(Unary::tanh, 1000.0f), 1.0f);
  EXPECT_EQ(apply(Unary::tanh, -kInf), -1.0f);
  EXPECT_EQ(apply(Unary::exp, 89.0f), kInf);
  EXPECT_EQ(apply(Unary::exp, 3e38f), kInf);
  EXPECT_EQ(apply(Unary::exp, kInf), kInf);
  EXPECT_EQ(apply(Unary::exp, -105.0f), 0.0f);
  EXPECT_EQ(apply(Unary::exp, -3e38f), 0.0f);
  EXPECT_EQ(apply(Unary::exp, -kInf), 0.0f);
  EXPECT_EQ(apply(Unary::exp, 0.0f), 1.0f);
  EXPECT_EQ(apply(Unary::log, 0.0f), -kInf);
  EXPECT_EQ(apply(Unary::log, -0.0f), -kInf);
  EXPECT_EQ(apply(Unary::log, kInf), kInf);
  EXPECT_TRUE(std::isnan(apply(Unary::log, -1.0f)));
  EXPECT_LE(ulps(apply(Unary::log, 1e-40f), std::log(static_cast<double>(1e-40f))), 4.0);
  EXPECT_EQ(apply(Unary::swish, 100.0f), 100.0f);
  EXPECT_NEAR(apply(Unary::swish, -100.0f), 0.0f, 1e-41f);
  EXPECT_EQ(apply(Unary::gelu, 1e30f), 1e30f);
  EXPECT_EQ(apply(Unary::gelu, -1e30f), 0.0f);
  EXPECT_EQ(apply(Unary::gelu, kInf), kInf);
  EXPECT_EQ(apply(Unary::gelu, 0.0f), 0.0f);
  EXPECT_EQ(apply(Unary::relu, -kInf), 0.0f);
  for (const Unary op : kUnaries) EXPECT_TRUE(std::isnan(apply(op, kNaN))) << static_cast<int>(op);
}

TEST_P(PointwiseTest, UnaryShapesAndRowsAlone) {
  for (const Unary op : kUnaries)
    for (const std::size_t cols : kColumnCounts)
      for (const std::size_t rows : {1, 2, 5, 13})
        for (const std::size_t gap : {0, 3}) {
          Matrix x = Matrix::random(rows, cols, 1, 2.0f, gap);
          for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < cols; ++c)
              if (op == Unary::log || op == Unary::sqrt) x(r, c) = std::fabs(x(r, c));
          Matrix y = Matrix::result(rows, cols, gap);
          kernels().unary(op, x.in(), rows, cols, y.out());
          ASSERT_TRUE(y.guards_intact());
          for (std::size_t r = 0; r < rows; ++r) {
            Matrix alone = Matrix::result(1, cols);
            kernels().unary(op, x.alone(r), 1, cols, alone.out());
            ASSERT_TRUE(same_bits(alone.row(0), y.row(r), cols));
            for (std::size_t c = 0; c < cols; ++c)
              ASSERT_NEAR(y(r, c), reference(op, x(r, c)),
                          2e-6 * (1.0 + std::fabs(reference(op, x(r, c)))));
          }
          kernels().unary(op, x.in(), rows, cols, x.out());
          for (std::size_t r = 0; r < rows; ++r)
            ASSERT_TRUE(same_bits(x.row(r), y.row(r), cols)) << "in place";
        }
}

// A tail lane must go through what a full vector's lane goes through.
TEST_P(PointwiseTest, ValueDoesNotDependOnItsColumn) {
  const Matrix x = Matrix::random(1, 257, 2, 3.0f);
  for (const Unary op : kUnaries) {
    Matrix y = Matrix::result(1, 257);
    kernels().unary(op, x.in(), 1, 257, y.out());
    for (std::size_t c = 0; c < 257; ++c) {
      const float alone = apply(op, x(0, c));
      if (!std::isnan(alone)) {
        ASSERT_TRUE(same_bits(&alone, &y(0, c), 1));
      }
    }
  }
}

TEST_P(PointwiseTest, BinaryShapesAndRowsAlone) {
  for (const Binary op : kBinaries)
    for (const std::size_t cols : kColumnCounts)
      for (const std::size_t rows : {1, 2, 5, 13})
        for (const std::size_t gap : {0, 3}) {
          Matrix a = Matrix::random(rows, cols, 3, 1.0f, gap);
          Matrix b = Matrix::random(rows, cols, 4, 1.0f, gap);
          Matrix y = Matrix::result(rows, cols, gap);
          kernels().binary(op, a.in(), b.in(), rows, cols, y.out());
          ASSERT_TRUE(y.guards_intact());
          for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < cols; ++c)
              ASSERT_EQ(y(r, c), reference(op, a(r, c), b(r, c)));
          Matrix alone = Matrix::result(1, cols);
          kernels().binary(op, a.alone(rows - 1), b.alone(rows - 1), 1, cols, alone.out());
          ASSERT_TRUE(same_bits(alone.row(0), y.row(rows - 1), cols));
          kernels().binary(op, a.in(), b.in(), rows, cols, b.out());
          for (std::size_t r = 0; r < rows; ++r) ASSERT_TRUE(same_bits(b.row(r), y.row(r), cols));
        }
}

TEST_P(PointwiseTest, BinaryRepeatsRowsAndElements) {
  for (const std::size_t cols : {1, 5, 16, 33}) {
    const std::size_t rows = 6;
    const Matrix a = Matrix::random(rows, cols, 5), bias = Matrix::random(1, cols, 6);
    const Matrix scalar = Matrix::random(rows, 1, 7);
    Matrix y = Matrix::result(rows, cols);
    kernels().binary(Binary::sub, a.in(), {bias.row(0), 0, nullptr, nullptr, cols}, rows, cols,
                     y.out());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(y(r, c), a(r, c) - bias(0, c));
    kernels().binary(Binary::div, a.in(), scalar.in(), rows, cols, y.out());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(y(r, c), a(r, c) / scalar(r, 0));
    kernels().binary(Binary::sub, scalar.in(), a.in(), rows, cols, y.out());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(y(r, c), scalar(r, 0) - a(r, c));
    kernels().binary(Binary::sub, scalar.in(), scalar.in(), rows, cols, y.out());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(y(r, c), 0.0f);
    kernels().unary(Unary::neg, scalar.in(), rows, cols, y.out());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) ASSERT_EQ(y(r, c), -scalar(r, 0));
    EXPECT_TRUE(y.guards_intact());
  }
}

TEST_P(PointwiseTest, ReadsRowsThroughAnIndex) {
  const Matrix a = Matrix::random(5, 21, 8), b = Matrix::random(4, 21, 9);
  const Matrix fallback = Matrix::random(1, 21, 10);
  const std::vector<std::int32_t> ia = {4, -1, 2}, ib = {0, 3, -1};
  Matrix y = Matrix::result(3, 21);
  kernels().binary(Binary::add, a.in(ia, fallback.row(0)), b.in(ib, nullptr), 3, 21, y.out());
  for (std::size_t c = 0; c < 21; ++c) {
    EXPECT_EQ(y(0, c), a(4, c) + b(0, c));
    EXPECT_EQ(y(1, c), fallback(0, c) + b(3, c));
    EXPECT_EQ(y(2, c), a(2, c));
  }
  kernels().unary(Unary::neg, a.in(ia, nullptr), 3, 21, y.out());
  for (std::size_t c = 0; c < 21; ++c) {
    EXPECT_EQ(y(0, c), -a(4, c));
    EXPECT_EQ(y(1, c), 0.0f);
  }
}

FUSELAGE_TEST_EVERY_LEVEL(PointwiseTest);

}  // namespace
}  // namespace fuselage::cpu::pointwise_test
