#include "backends/cpu/simd/rows/copy.h"

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

TEST(CopyRows, IndexFallbackAndZeros) {
  for (const std::size_t cols : kColumnCounts) {
    const Matrix x = Matrix::random(5, cols, 1), fallback = Matrix::random(1, cols, 2);
    const std::vector<std::int32_t> index = {4, -1, 0, 0};
    Matrix y = Matrix::result(4, cols), z = Matrix::result(4, cols);
    copy_rows(x.in(index, fallback.row(0)), 4, cols, y.out());
    copy_rows(x.in(index, nullptr), 4, cols, z.out());
    EXPECT_TRUE(same_bits(y.row(0), x.row(4), cols));
    EXPECT_TRUE(same_bits(y.row(1), fallback.row(0), cols));
    EXPECT_TRUE(same_bits(y.row(3), x.row(0), cols));
    EXPECT_TRUE(same_bits(z.row(2), x.row(0), cols));
    for (std::size_t c = 0; c < cols; ++c) EXPECT_EQ(z(1, c), 0.0f);
    EXPECT_TRUE(y.guards_intact());
    EXPECT_TRUE(z.guards_intact());
  }
}

TEST(CopyRows, RepeatsARowOrAnElement) {
  const Matrix x = Matrix::random(3, 1, 3), row = Matrix::random(1, 6, 4);
  Matrix y = Matrix::result(3, 6);
  copy_rows(x.in(), 3, 6, y.out());
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 6; ++c) EXPECT_EQ(y(r, c), x(r, 0));
  copy_rows({row.row(0), 0, nullptr, nullptr, 6}, 3, 6, y.out());
  for (std::size_t r = 0; r < 3; ++r) EXPECT_TRUE(same_bits(y.row(r), row.row(0), 6));
  EXPECT_TRUE(y.guards_intact());
}

TEST(CopyRows, ConcatenatesByColumnOffset) {
  const Matrix a = Matrix::random(4, 3, 5), b = Matrix::random(4, 5, 6);
  Matrix y = Matrix::result(4, 8);
  copy_rows(a.in(), 4, 3, y.out());
  copy_rows(b.in(), 4, 5, {y.row(0) + 3, y.stride()});
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_TRUE(same_bits(y.row(r), a.row(r), 3));
    EXPECT_TRUE(same_bits(y.row(r) + 3, b.row(r), 5));
  }
  EXPECT_TRUE(y.guards_intact());
}

TEST(CopyRows, GrowsItsZeros) {
  const std::vector<std::int32_t> index = {-1};
  const float none = 1;
  std::vector<float> y(10000, 1.0f);
  copy_rows({&none, 10000, index.data(), nullptr, 10000}, 1, 10000, {y.data(), 10000});
  EXPECT_EQ(y, std::vector<float>(10000, 0.0f));
}

}  // namespace
}  // namespace fuselage::cpu
