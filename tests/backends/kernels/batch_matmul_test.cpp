#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

class BatchMatmulTest : public KernelTest {};

std::int64_t columns(std::size_t n) { return static_cast<std::int64_t>(n); }

TEST_P(BatchMatmulTest, IsTheProductOfEachPairOfMatrices) {
  constexpr std::size_t kRows = 3, kCount = 2;
  for (const std::size_t m : {1, 3, 4, 9})
    for (const std::size_t k : {1, 5, 16, 33})
      for (const std::size_t n : kWidths)
        for (const bool transposed : {false, true}) {
          const BatchMatmulShape shape{columns(kCount), columns(m), columns(k), columns(n),
                                       transposed};
          const Matrix a = Matrix::random(kRows, kCount * m * k, 1);
          const Matrix b = Matrix::random(kRows, kCount * k * n, 2);
          Matrix c = Matrix::result(kRows, kCount * m * n);
          kernels().batch_matmul(a.in(), b.in(), shape, kRows, c.out());
          ASSERT_TRUE(c.guards_intact());
          for (std::size_t r = 0; r < kRows; ++r) {
            Matrix alone = Matrix::result(1, c.cols());
            kernels().batch_matmul(a.alone(r), b.alone(r), shape, 1, alone.out());
            ASSERT_TRUE(same_bits(alone.row(0), c.row(r), c.cols()));
            for (std::size_t at = 0; at < c.cols(); ++at) {
              const std::size_t matrix = at / (m * n), i = at / n % m, j = at % n;
              double sum = 0, size = 0;
              for (std::size_t l = 0; l < k; ++l) {
                const double term = static_cast<double>(a(r, (matrix * m + i) * k + l)) *
                                    b(r, matrix * k * n + (transposed ? j * k + l : l * n + j));
                sum += term;
                size += std::fabs(term);
              }
              ASSERT_NEAR(c(r, at), sum, 2e-6 * size);
            }
          }
        }
}

TEST_P(BatchMatmulTest, ReadsRowsThroughAnIndexAndOneRowForAll) {
  const Matrix a = Matrix::random(4, 6, 3), b = Matrix::random(1, 12, 4);
  const std::vector<std::int32_t> index = {3, -1, 0};
  const BatchMatmulShape shape{1, 2, 3, 4, false};
  RowsIn same = b.in();
  same.stride = 0;
  Matrix c = Matrix::result(3, 8), want = Matrix::result(1, 8);
  kernels().batch_matmul(a.in(index, nullptr), same, shape, 3, c.out());
  for (const std::size_t r : {0, 2}) {
    kernels().batch_matmul(a.alone(static_cast<std::size_t>(index[r])), b.in(), shape, 1,
                           want.out());
    EXPECT_TRUE(same_bits(want.row(0), c.row(r), 8));
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(c(1, i), 0);
}

FUSELAGE_TEST_EVERY_LEVEL(BatchMatmulTest);

}  // namespace
}  // namespace fuselage::cpu
