#include <cstdlib>

#include "fuselage/base/error.h"
#include "tests/backends/kernels/quantized_vectors.h"

namespace fuselage::cpu::gemm_quantized_test {
namespace {

class GemmQuantizedTest : public KernelTest {};

// So that k products of integers fit 32 bits.
std::int32_t largest_for(DType dtype, std::size_t k) {
  const double bound = std::sqrt(2147483647.0 / static_cast<double>(std::max<std::size_t>(k, 1)));
  return std::min(largest_of(dtype), static_cast<std::int32_t>(bound));
}

/// Of the type that products with a matrix of type `dtype` take.
QuantizedVectors random_rows(DType dtype, std::size_t count, std::size_t k, unsigned seed) {
  const DType rows = row_type_of(dtype);
  return QuantizedVectors::random(rows, count, k, largest_for(rows, k), seed, 3);
}

QuantizedVectors random_weights(DType dtype, std::size_t n, std::size_t k, unsigned seed) {
  return QuantizedVectors::random(dtype, n, k, largest_for(dtype, k), seed, 0);
}

PackedMatrix pack(DType dtype, const QuantizedVectors& w) {
  return PackedMatrix::pack_quantized(dtype, w.data(), w.k(), w.count());
}

Matrix exact_products(const QuantizedVectors& a, const QuantizedVectors& w) {
  Matrix products(a.count(), w.count());
  for (std::size_t r = 0; r < a.count(); ++r)
    for (std::size_t c = 0; c < w.count(); ++c) products(r, c) = exact_product(a, r, w, c);
  return products;
}

void expect_first_rows(const Matrix& want, const Matrix& got) {
  for (std::size_t r = 0; r < got.rows(); ++r)
    ASSERT_TRUE(same_bits(want.row(r), got.row(r), got.cols()))
        << "row " << r << " of " << got.rows() << ", " << got.cols() << " columns";
  ASSERT_TRUE(got.guards_intact());
}

void expect_exact(DType dtype, const QuantizedVectors& a, const QuantizedVectors& w) {
  Matrix c = Matrix::result(a.count(), w.count());
  kernels().gemm(a.matrix().in(), a.count(), pack(dtype, w), c.out());
  expect_first_rows(exact_products(a, w), c);
}

TEST_P(GemmQuantizedTest, SumsAreExactForAnyShapeAndNumberOfRows) {
  constexpr std::size_t kMaxRows = 20;
  for (const DType dtype : kQuantized)
    for (const std::size_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 33, 66, 131})
      for (const std::size_t n : kColumnCounts) {
        const QuantizedVectors a = random_rows(dtype, kMaxRows, k, 1);
        const QuantizedVectors w = random_weights(dtype, n, k, 2);
        const PackedMatrix packed = pack(dtype, w);
        const Matrix want = exact_products(a, w);
        for (std::size_t rows = 1; rows <= kMaxRows; ++rows) {
          Matrix c = Matrix::result(rows, n);
          kernels().gemm(a.matrix().in(), rows, packed, c.out());
          SCOPED_TRACE(::testing::Message() << to_string(dtype) << " k " << k);
          ASSERT_NO_FATAL_FAILURE(expect_first_rows(want, c));
        }
      }
}

TEST_P(GemmQuantizedTest, BlocksOfManyRowsAreExact) {
  constexpr std::size_t kMaxRows = 97;
  for (const std::size_t k : {60, 64, 65, 191, 257})
    for (const std::size_t n : {1, 15, 33, 64, 130}) {
      const QuantizedVectors a = random_rows(DType::qint8, kMaxRows, k, 21);
      const QuantizedVectors w = random_weights(DType::qint8, n, k, 22);
      const PackedMatrix packed = pack(DType::qint8, w);
      const Matrix want = exact_products(a, w);
      for (const std::size_t rows : {15, 16, 17, 31, 32, 33, 47, 48, 49, 65, 81, 95, 96, 97}) {
        Matrix c = Matrix::result(rows, n);
        kernels().gemm(a.matrix().in(), rows, packed, c.out());
        SCOPED_TRACE(::testing::Message() << "k " << k);
        ASSERT_NO_FATAL_FAILURE(expect_first_rows(want, c));
      }
    }
}

TEST_P(GemmQuantizedTest, RowsAloneAreThoseOfTheBatch) {
  for (const DType dtype : kQuantized) {
    const QuantizedVectors a = random_rows(dtype, 9, 45, 3);
    const PackedMatrix packed = pack(dtype, random_weights(dtype, 150, 45, 4));
    Matrix all = Matrix::result(9, 150), alone = Matrix::result(1, 150);
    kernels().gemm(a.matrix().in(), 9, packed, all.out());
    for (std::size_t r = 0; r < 9; ++r) {
      kernels().gemm(a.matrix().alone(r), 1, packed, alone.out());
      EXPECT_TRUE(same_bits(alone.row(0), all.row(r), 150));
    }
  }
}

// Any step of 16 bits in between would saturate or wrap.
TEST_P(GemmQuantizedTest, LargestIntegersDoNotSaturate) {
  for (const DType dtype : kQuantized) {
    const DType rows = row_type_of(dtype);
    // Two products of the largest 16-bit integers are all that fits; more must cancel.
    const std::size_t k = dtype == DType::qint16 ? 2 : 4097;
    const auto scale = [](std::size_t r) { return r % 2 ? 0.5f : 3.0f; };
    const auto signs_of = [](DType type) {
      return [largest = largest_of(type)](std::size_t r, std::size_t) {
        return r % 2 ? -largest : largest;
      };
    };
    expect_exact(dtype, {rows, 7, k, 3, scale, signs_of(rows)},
                 {dtype, 70, k, 0, scale, signs_of(dtype)});
    const auto alternating = [&](std::size_t, std::size_t i) {
      return i % 2 ? -largest_of(rows) : largest_of(rows);
    };
    const auto in_pairs = [&](std::size_t r, std::size_t i) {
      return (i + r) / 2 % 2 ? -largest_of(dtype) : largest_of(dtype);
    };
    expect_exact(dtype, {rows, 7, 1001, 3, scale, alternating},
                 {dtype, 70, 1001, 0, scale, in_pairs});
  }
}

// Kernels add products in 16 bits while 4 magnitudes of the row, or 8 of a row without negative
// numbers, add up to at most 256.
TEST_P(GemmQuantizedTest, SumsAreExactAroundTheRangeOfShorts) {
  const auto scale = [](std::size_t) { return 1.0f; };
  for (const std::size_t k : {8, 21, 64}) {
    const QuantizedVectors w(DType::qint8, 35, k, 0, scale, [](std::size_t c, std::size_t i) {
      return std::vector<std::int32_t>{-128, -127, 127, i % 2 != 0 ? 127 : -128}[c % 4];
    });
    // They add up to an even number from 252 to 260.
    const QuantizedVectors four(DType::qint8, 36, k, 3, scale, [](std::size_t r, std::size_t i) {
      const auto magnitude = static_cast<std::int32_t>(63 + (r % 9 + i % 4) / 4);
      return r / 9 % 2 != 0 && (r < 27 || i % 3 == 0) ? -magnitude : magnitude;
    });
    expect_exact(DType::qint8, four, w);
    // From 248 to 264.
    const QuantizedVectors eight(DType::qint8, 51, k, 3, scale, [](std::size_t r, std::size_t i) {
      const std::size_t number = i % 2 + i % 16 / 4 * 2;
      return static_cast<std::int32_t>(31 + (r % 17 + number) / 8);
    });
    expect_exact(DType::qint8, eight, w);
  }
}

// Where few of a row's sums exceed 16 bits, their terms are multiplied apart from the others.
TEST_P(GemmQuantizedTest, RowsWithFewAndManyLargeNumbersAreExact) {
  const auto scale = [](std::size_t) { return 1.0f; };
  constexpr std::size_t kTerms = 260;
  for (const std::size_t positive_terms : {0, 140, 260})
    for (const std::size_t of_rows : {1, 2}) {  // all, or every second one
      // Row r has r % 7 groups of 8 large integers; the last rows end with the least byte.
      const auto integer = [&](std::size_t r, std::size_t i) {
        if (i + 1 == kTerms && r >= 24) return -128;
        const std::size_t group = i / 8;
        auto x = static_cast<std::int32_t>(i * 7 % 11) - 5;
        if (group % 5 == 0 && group / 5 < r % 7) x = x < 0 ? -127 : 127;
        return i < positive_terms && r % of_rows == 0 ? std::abs(x) : x;
      };
      const QuantizedVectors a(DType::qint8, 31, kTerms, 3, scale, integer);
      expect_exact(DType::qint8, a, random_weights(DType::qint8, 75, kTerms, 9));
    }
}

TEST_P(GemmQuantizedTest, MoreRowsThanArePreparedAtOnce) {
  for (const DType dtype : kQuantized)
    expect_exact(dtype, random_rows(dtype, 211, 37, 5), random_weights(dtype, 130, 37, 6));
}

TEST_P(GemmQuantizedTest, ReadsRowsThroughAnIndex) {
  for (const DType dtype : kQuantized) {
    const QuantizedVectors table = random_rows(dtype, 9, 41, 7);
    const QuantizedVectors other = random_rows(dtype, 1, 41, 8);
    const QuantizedVectors w = random_weights(dtype, 50, 41, 9);
    const PackedMatrix packed = pack(dtype, w);
    const Matrix products = exact_products(table, w), fallback = exact_products(other, w);
    const std::vector<std::int32_t> index = {3, -1, 0, 8, 3, -1, 7};
    Matrix c = Matrix::result(7, 50);
    kernels().gemm(table.matrix().in(index, other.matrix().row(0)), 7, packed, c.out());
    for (std::size_t r = 0; r < 7; ++r)
      EXPECT_TRUE(same_bits(c.row(r), index[r] < 0 ? fallback.row(0) : products.row(index[r]), 50));

    kernels().gemm(table.matrix().in(index, nullptr), 7, packed, c.out());
    for (std::size_t j = 0; j < 50; ++j) EXPECT_EQ(c(1, j), 0.0f);
    EXPECT_TRUE(same_bits(c.row(6), products.row(7), 50));
  }
}

TEST_P(GemmQuantizedTest, ScalesThatAreZeroOrNoNumberStayInTheirRowAndColumn) {
  for (const DType dtype : kQuantized) {
    QuantizedVectors a = random_rows(dtype, 4, 20, 10);
    QuantizedVectors w = random_weights(dtype, 30, 20, 11);
    a.scale(1) = 0;
    a.scale(2) = kNaN;
    w.scale(5) = 0;
    w.scale(7) = kNaN;
    Matrix c = Matrix::result(4, 30);
    kernels().gemm(a.matrix().in(), 4, pack(dtype, w), c.out());
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t j = 0; j < 30; ++j) {
        const bool zero = r == 1 || j == 5;
        if (r == 2 || j == 7)
          EXPECT_TRUE(std::isnan(c(r, j)));
        else
          EXPECT_EQ(c(r, j), zero ? 0 : exact_product(a, r, w, j));
      }
  }
}

TEST_P(GemmQuantizedTest, PanelRangesMakeUpTheWhole) {
  for (const DType dtype : kQuantized) {
    const QuantizedVectors w = random_weights(dtype, 300, 23, 12);
    const PackedMatrix packed = pack(dtype, w);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.panel_bytes(0)) % 64, 0u);
    for (const std::size_t rows : {1, 2, 5, 9}) {
      const QuantizedVectors a = random_rows(dtype, rows, 23, 13);
      Matrix c = Matrix::result(rows, 300);
      const std::size_t third = packed.panel_count() / 3;
      kernels().gemm_panels(a.matrix().in(), rows, packed, third, packed.panel_count(), {},
                            c.out());
      kernels().gemm_panels(a.matrix().in(), rows, packed, 0, third, {}, c.out());
      expect_first_rows(exact_products(a, w), c);
    }
  }
}

TEST_P(GemmQuantizedTest, NoTermsGiveZeros) {
  for (const DType dtype : kQuantized)
    for (const std::size_t rows : {4, 40})
      expect_exact(dtype, random_rows(dtype, rows, 0, 14), random_weights(dtype, 19, 0, 15));
}

TEST_P(GemmQuantizedTest, RefusesRowsOfAnotherFormat) {
  const QuantizedVectors a = random_rows(DType::qint8, 1, 20, 16);
  Matrix c = Matrix::result(1, 30);
  for (const PackedMatrix& packed :
       {pack(DType::qint16, random_weights(DType::qint16, 30, 20, 17)),
        PackedMatrix::pack(Matrix(20, 30, 0).row(0), 20, 30, 30, false)})
    EXPECT_THROW(kernels().gemm(a.matrix().in(), 1, packed, c.out()), InternalError);
  EXPECT_THROW(PackedMatrix::pack_quantized(DType::i8, a.data(), 20, 1), InternalError);
}

FUSELAGE_TEST_EVERY_LEVEL(GemmQuantizedTest);

}  // namespace
}  // namespace fuselage::cpu::gemm_quantized_test
