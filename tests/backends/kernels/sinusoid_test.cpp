#include "backends/cpu/simd/rows/sinusoid.h"

#include <cmath>
#include <numeric>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

TEST(SinusoidTable, MatchesTheExpression) {
  const std::vector<std::int32_t> positions = {0, 1, 17, 1500};
  for (const std::size_t dim : {2, 6, 7, 64}) {
    Matrix y = Matrix::result(4, dim);
    SinusoidTable(dim).encode(positions.data(), 4, y.out());
    const std::size_t n = dim / 2;
    const double inc = n > 1 ? std::log(10000.0) / static_cast<double>(n - 1) : 0;
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t i = 0; i < n; ++i) {
        const double angle = positions[r] * std::exp(-inc * static_cast<double>(i));
        EXPECT_NEAR(y(r, i), std::sin(angle), 1e-4);
        EXPECT_NEAR(y(r, n + i), std::cos(angle), 1e-4);
      }
      if (dim % 2) {
        EXPECT_EQ(y(r, dim - 1), 0.0f);
      }
    }
    EXPECT_TRUE(y.guards_intact());
  }
}

// Of the angles as they are in float, however many times around they are.
TEST(SinusoidTable, IsExactOfItsAngles) {
  const std::size_t dim = 512;
  const std::vector<std::int32_t> positions = {0, 1, 37, 999, 65535, 12345678, 2147483647};
  Matrix y = Matrix::result(positions.size(), dim);
  SinusoidTable(dim).encode(positions.data(), positions.size(), y.out());
  const float inc = 9.21034037f / 255;
  for (std::size_t r = 0; r < positions.size(); ++r)
    for (std::size_t i = 0; i < dim / 2; ++i) {
      const double frequency = std::exp(static_cast<double>(-inc * static_cast<float>(i)));
      const double angle = static_cast<float>(positions[r]) * static_cast<float>(frequency);
      ASSERT_NEAR(y(r, i), std::sin(angle), 4e-8) << positions[r] << ", column " << i;
      ASSERT_NEAR(y(r, dim / 2 + i), std::cos(angle), 4e-8) << positions[r] << ", column " << i;
    }
}

TEST(SinusoidTable, PositionsAloneAndAmongOthersGiveTheSameBits) {
  constexpr std::size_t kDim = 48, kRows = 300;
  std::vector<std::int32_t> positions(kRows);
  std::iota(positions.begin(), positions.end(), 0);
  Matrix together = Matrix::result(kRows, kDim);
  const SinusoidTable table(kDim);
  table.encode(positions.data(), kRows, together.out());
  for (std::size_t r = 0; r < kRows; ++r) {
    Matrix alone = Matrix::result(1, kDim);
    table.encode(&positions[r], 1, alone.out());
    ASSERT_TRUE(same_bits(together.row(r), alone.row(0), kDim));
  }
}

}  // namespace
}  // namespace fuselage::cpu
