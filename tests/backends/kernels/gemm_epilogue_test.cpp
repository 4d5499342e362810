#include "tests/backends/kernels/quantized_vectors.h"

namespace fuselage::cpu {
namespace {

class GemmEpilogueTest : public KernelTest {};

/// The bits of the kernels binary and unary on whole products.
Matrix expected(Matrix products, const Matrix* bias, bool relu) {
  const std::size_t rows = products.rows(), n = products.cols();
  if (bias) {
    const RowsIn repeated{.data = bias->row(0), .stride = 0, .columns = n};
    kernels().binary(Binary::add, products.in(), repeated, rows, n, products.out());
  }
  if (relu) kernels().unary(Unary::relu, products.in(), rows, n, products.out());
  return products;
}

void expect_as_separate_kernels(const RowsIn& a, std::size_t rows, const PackedMatrix& b) {
  Matrix products = Matrix::result(rows, b.n());
  kernels().gemm(a, rows, b, products.out());
  Matrix bias = Matrix::random(1, b.n(), 31, 3.0f);
  bias(0, b.n() / 2) = kNaN;
  for (const Matrix* added : {static_cast<const Matrix*>(nullptr), &std::as_const(bias)})
    for (const bool relu : {false, true}) {
      const Matrix want = expected(products, added, relu);
      Matrix got = Matrix::result(rows, b.n());
      const ProductEpilogue after{.bias = added ? added->row(0) : nullptr, .relu = relu};
      // In two parts, so that the second one's bias begins behind the first column.
      const std::size_t half = b.panel_count() / 2;
      kernels().gemm_panels(a, rows, b, half, b.panel_count(), after, got.out());
      kernels().gemm_panels(a, rows, b, 0, half, after, got.out());
      ASSERT_TRUE(got.guards_intact());
      for (std::size_t r = 0; r < rows; ++r)
        ASSERT_TRUE(same_bits(want.row(r), got.row(r), b.n()))
            << "row " << r << " of " << rows << ", " << b.n() << " columns, bias "
            << (added != nullptr) << ", relu " << relu;
    }
}

TEST_P(GemmEpilogueTest, OfFloats) {
  for (const std::size_t n : {2, 15, 16, 17, 63, 64, 65, 129, 300}) {
    const Matrix w = Matrix::random(21, n, 32, 1.0f, 0);
    const PackedMatrix packed = PackedMatrix::pack(w.row(0), 21, n, n, false);
    for (const std::size_t rows : {1, 2, 3, 6, 7, 8, 13})
      ASSERT_NO_FATAL_FAILURE(
          expect_as_separate_kernels(Matrix::random(rows, 21, 33).in(), rows, packed));
  }
}

TEST_P(GemmEpilogueTest, OfIntegers) {
  for (const DType dtype : kQuantized)
    for (const std::size_t n : {2, 16, 17, 64, 65, 300}) {
      const QuantizedVectors w = QuantizedVectors::random(dtype, n, 37, 60, 34, 0);
      const PackedMatrix packed = PackedMatrix::pack_quantized(dtype, w.data(), 37, n);
      for (const std::size_t rows : {1, 2, 5, 7, 8, 40}) {
        const QuantizedVectors a =
            QuantizedVectors::random(row_type_of(dtype), rows, 37, 60, 35, 3);
        ASSERT_NO_FATAL_FAILURE(expect_as_separate_kernels(a.matrix().in(), rows, packed));
      }
    }
}

FUSELAGE_TEST_EVERY_LEVEL(GemmEpilogueTest);

}  // namespace
}  // namespace fuselage::cpu
