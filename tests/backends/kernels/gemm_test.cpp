#include "fuselage/base/tensor.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu::gemm_test {
namespace {

class GemmTest : public KernelTest {};

// Checks c = a b for double-precision sums, and that nothing else was written.
void expect_product(const Matrix& a, const Matrix& b, const Matrix& c) {
  for (std::size_t r = 0; r < c.rows(); ++r)
    for (std::size_t j = 0; j < c.cols(); ++j) {
      double sum = 0, size = 0;
      for (std::size_t i = 0; i < a.cols(); ++i) {
        const double term = static_cast<double>(a(r, i)) * b(i, j);
        sum += term;
        size += std::fabs(term);
      }
      ASSERT_NEAR(c(r, j), sum, 1e-7 * (1.0 + static_cast<double>(a.cols())) * size)
          << "row " << r << " column " << j << " k " << a.cols() << " n " << c.cols();
    }
  EXPECT_TRUE(c.guards_intact());
}

PackedMatrix pack(const Matrix& b) {
  return PackedMatrix::pack(b.row(0), b.rows(), b.cols(), b.stride(), false);
}

TEST_P(GemmTest, MatchesReferenceAndRowsAlone) {
  for (const std::size_t k : {1, 2, 5, 16, 33, 100})
    for (const std::size_t n : kColumnCounts) {
      const Matrix b = Matrix::random(k, n, 1);
      const PackedMatrix packed = pack(b);
      for (std::size_t rows = 1; rows <= 13; ++rows) {
        const Matrix a = Matrix::random(rows, k, 2);
        Matrix c = Matrix::result(rows, n);
        kernels().gemm(a.in(), rows, packed, c.out());
        if (rows < 4 || rows > 11) expect_product(a, b, c);
        for (std::size_t r = 0; r < rows; ++r) {
          Matrix alone = Matrix::result(1, n);
          kernels().gemm(a.alone(r), 1, packed, alone.out());
          ASSERT_TRUE(same_bits(alone.row(0), c.row(r), n)) << "row " << r << " of " << rows;
          ASSERT_TRUE(alone.guards_intact());
        }
        ASSERT_TRUE(c.guards_intact());
      }
    }
}

TEST_P(GemmTest, ManyRowsAndPanels) {
  const Matrix b = Matrix::random(129, 777, 3);
  const Matrix a = Matrix::random(50, 129, 4);
  Matrix c = Matrix::result(50, 777);
  kernels().gemm(a.in(), 50, pack(b), c.out());
  expect_product(a, b, c);
}

TEST_P(GemmTest, TransposedPackingIsTheSame) {
  const Matrix b = Matrix::random(37, 70, 5);
  Matrix transposed(70, 37);
  for (std::size_t i = 0; i < 37; ++i)
    for (std::size_t j = 0; j < 70; ++j) transposed(j, i) = b(i, j);
  const Matrix a = Matrix::random(5, 37, 6);
  Matrix c = Matrix::result(5, 70), d = Matrix::result(5, 70);
  kernels().gemm(a.in(), 5, pack(b), c.out());
  kernels().gemm(a.in(), 5,
                 PackedMatrix::pack(transposed.row(0), 37, 70, transposed.stride(), true), d.out());
  for (std::size_t r = 0; r < 5; ++r) EXPECT_TRUE(same_bits(c.row(r), d.row(r), 70));
}

TEST_P(GemmTest, BFloat16HasTheBitsOfItsFloats) {
  for (const std::size_t k : {1, 2, 5, 33})
    for (const std::size_t n : kColumnCounts) {
      Matrix b = Matrix::random(k, n, 14, 1.0f, 0);
      b(0, n - 1) = -kInf;
      std::vector<std::uint16_t> halves, transposed(k * n);
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < n; ++j) {
          halves.push_back(float_to_bfloat16(b(i, j)));
          transposed[j * k + i] = halves.back();
          b(i, j) = bfloat16_to_float(halves.back());
        }
      const PackedMatrix wide = pack(b),
                         narrow = PackedMatrix::pack_bf16(halves.data(), k, n, n, false),
                         columns = PackedMatrix::pack_bf16(transposed.data(), k, n, k, true);
      for (const std::size_t rows : {1, 2, 3, 6, 7, 8, 13}) {
        const Matrix a = Matrix::random(rows, k, 15);
        Matrix want = Matrix::result(rows, n), got = Matrix::result(rows, n);
        kernels().gemm(a.in(), rows, wide, want.out());
        for (const PackedMatrix* packed : {&narrow, &columns}) {
          kernels().gemm(a.in(), rows, *packed, got.out());
          for (std::size_t r = 0; r < rows; ++r)
            ASSERT_TRUE(same_bits(want.row(r), got.row(r), n)) << k << " x " << n;
          ASSERT_TRUE(got.guards_intact());
        }
      }
    }
}

TEST_P(GemmTest, PanelRangesMakeUpTheWhole) {
  const Matrix b = Matrix::random(20, 300, 7);
  const PackedMatrix packed = pack(b);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.panel_bytes(0)) % 64, 0u);
  for (const std::size_t rows : {1, 2, 3, 5, 9}) {
    const Matrix a = Matrix::random(rows, 20, 8);
    Matrix whole = Matrix::result(rows, 300), parts = Matrix::result(rows, 300);
    kernels().gemm(a.in(), rows, packed, whole.out());
    const std::size_t third = packed.panel_count() / 3;
    kernels().gemm_panels(a.in(), rows, packed, third, packed.panel_count(), {}, parts.out());
    kernels().gemm_panels(a.in(), rows, packed, 0, third, {}, parts.out());
    kernels().gemm_panels(a.in(), rows, packed, third, third, {}, parts.out());
    for (std::size_t r = 0; r < rows; ++r) EXPECT_TRUE(same_bits(whole.row(r), parts.row(r), 300));
    EXPECT_TRUE(parts.guards_intact());
  }
}

TEST_P(GemmTest, ReadsRowsThroughAnIndex) {
  const Matrix table = Matrix::random(9, 40, 9);
  const Matrix fallback = Matrix::random(1, 40, 10);
  const PackedMatrix packed = pack(Matrix::random(40, 50, 11));
  const std::vector<std::int32_t> index = {3, -1, 0, 8, 3, -1, 7};
  Matrix gathered(7, 40);
  for (std::size_t r = 0; r < 7; ++r)
    for (std::size_t i = 0; i < 40; ++i)
      gathered(r, i) = index[r] < 0 ? fallback(0, i) : table(index[r], i);
  Matrix want = Matrix::result(7, 50), got = Matrix::result(7, 50);
  kernels().gemm(gathered.in(), 7, packed, want.out());
  kernels().gemm(table.in(index, fallback.row(0)), 7, packed, got.out());
  for (std::size_t r = 0; r < 7; ++r) EXPECT_TRUE(same_bits(want.row(r), got.row(r), 50));

  kernels().gemm(table.in(index, nullptr), 7, packed, got.out());
  for (std::size_t j = 0; j < 50; ++j) EXPECT_EQ(got(1, j), 0.0f);
  EXPECT_TRUE(same_bits(want.row(0), got.row(0), 50));
}

TEST_P(GemmTest, NoTermsGiveZeros) {
  const float none = 0;
  const PackedMatrix packed = PackedMatrix::pack(&none, 0, 19, 19, false);
  Matrix c = Matrix::result(4, 19);
  kernels().gemm({&none, 0, nullptr, nullptr, 0}, 4, packed, c.out());
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t j = 0; j < 19; ++j) EXPECT_EQ(c(r, j), 0.0f);
  EXPECT_TRUE(c.guards_intact());
}

TEST_P(GemmTest, KeepsInfinityAndNaNToTheirRow) {
  const Matrix b = Matrix::random(10, 30, 12);
  Matrix a = Matrix::random(6, 10, 13);
  a(2, 4) = kInf;
  a(4, 0) = kNaN;
  Matrix c = Matrix::result(6, 30);
  kernels().gemm(a.in(), 6, pack(b), c.out());
  for (std::size_t j = 0; j < 30; ++j) {
    EXPECT_TRUE(std::isfinite(c(1, j)));
    EXPECT_TRUE(std::isinf(c(2, j)));
    EXPECT_TRUE(std::isfinite(c(3, j)));
    EXPECT_TRUE(std::isnan(c(4, j)));
  }
}

FUSELAGE_TEST_EVERY_LEVEL(GemmTest);

}  // namespace
}  // namespace fuselage::cpu::gemm_test
