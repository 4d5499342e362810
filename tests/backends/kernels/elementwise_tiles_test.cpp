#include "backends/cpu/kernels/elementwise_tiles.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"
#include "tests/backends/kernels/support.h"

namespace fuselage::cpu {
namespace {

class ElementwiseTilesTest : public KernelTest {};

/// What the unary and binary kernels make of `tanh(a + b) * c - 0.5 * a`, with c one element a row.
Matrix one_after_another(const Matrix& a, const Matrix& b, const Matrix& c) {
  const std::size_t rows = a.rows(), cols = a.cols();
  const float half = 0.5f;
  Matrix x = Matrix::result(rows, cols), y = Matrix::result(rows, cols);
  kernels().binary(Binary::add, a.in(), b.in(), rows, cols, x.out());
  kernels().unary(Unary::tanh, x.in(), rows, cols, x.out());
  kernels().binary(Binary::mul, x.in(), c.in(), rows, cols, x.out());
  kernels().binary(Binary::mul, {&half, 0, nullptr, nullptr, 1}, a.in(), rows, cols, y.out());
  kernels().binary(Binary::sub, x.in(), y.in(), rows, cols, x.out());
  return x;
}

const char* const kExpression = "sub(mul(tanh(add(x0, x1)), x2), mul(0.5, x0))";

TEST_P(ElementwiseTilesTest, HasTheBitsOfSingleKernels) {
  for (const std::size_t cols : {1, 2, 7, 16, 17, 64, 255, 256, 257, 600})
    for (const std::size_t rows : {1, 3}) {
      const Matrix a = Matrix::random(rows, cols, 1), b = Matrix::random(rows, cols, 2);
      const Matrix c = Matrix::random(rows, 1, 3);
      const ElementwiseTiles tiles(parse_expression(kExpression), {false, false, cols != 1});
      const RowsIn operands[] = {a.in(), b.in(), c.in()};
      Matrix y = Matrix::result(rows, cols);
      const RowsOut out = y.out();
      tiles.run(operands, rows, cols, &out);
      ASSERT_TRUE(y.guards_intact());
      const Matrix want = one_after_another(a, b, c);
      for (std::size_t r = 0; r < rows; ++r)
        ASSERT_TRUE(same_bits(want.row(r), y.row(r), cols)) << rows << " x " << cols;
    }
}

TEST_P(ElementwiseTilesTest, GivesSeveralResultsAndMayWriteOverAnOperand) {
  const std::size_t rows = 4, cols = 37;
  const ElementwiseTiles tiles(parse_expression("t0 = add(x0, x1); relu(t0); t0; mul(x0, x0)"),
                               {false, false});
  ASSERT_EQ(tiles.result_count(), 3u);
  const Matrix a = Matrix::random(rows, cols, 4), b = Matrix::random(rows, cols, 5);
  Matrix over = a, sum = Matrix::result(rows, cols), square = Matrix::result(rows, cols);
  const RowsIn operands[] = {over.in(), b.in()};
  const RowsOut results[] = {over.out(), sum.out(), square.out()};
  tiles.run(operands, rows, cols, results);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) {
      EXPECT_EQ(sum(r, c), a(r, c) + b(r, c));
      EXPECT_EQ(over(r, c), std::max(sum(r, c), 0.0f));
      EXPECT_EQ(square(r, c), a(r, c) * a(r, c));
    }
}

TEST_P(ElementwiseTilesTest, ReadsRowsThroughAnIndexAndSomeColumns) {
  const std::size_t cols = 40;
  const Matrix table = Matrix::random(5, cols, 6), fallback = Matrix::random(1, cols, 7);
  const std::vector<std::int32_t> index = {4, -1, 0};
  const ElementwiseTiles tiles(parse_expression("neg(x0)"), {false});
  for (const float* other : {fallback.row(0), static_cast<const float*>(nullptr)}) {
    Matrix y = Matrix::result(3, cols);
    const RowsIn in = table.in(index, other);
    const RowsOut out = y.out();
    tiles.run_columns(&in, 3, 9, 20, &out);
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < cols; ++c) {
        const float default_value = other ? other[c] : 0.0f;
        const float value =
            index[r] < 0 ? default_value : table(static_cast<std::size_t>(index[r]), c);
        EXPECT_EQ(y(r, c), c >= 9 && c < 29 ? -value : Matrix::kGuard);
      }
  }
}

TEST_P(ElementwiseTilesTest, RefusesWhatItHasNoRoomFor) {
  // Each level of this tree keeps one more value alive.
  std::string tree = "tanh(x0)";
  for (int i = 0; i < 3; ++i) tree = "add(" + tree + ", " + tree + ")";
  EXPECT_EQ(ElementwiseTiles::refuse(parse_expression(tree)), "");
  std::string names, sum = "x0";
  for (int i = 0; i < 20; ++i) {
    names += "t" + std::to_string(i) + " = add(x0, " + std::to_string(i) + "); ";
    sum = "add(t" + std::to_string(i) + ", " + sum + ")";
  }
  EXPECT_THAT(ElementwiseTiles::refuse(parse_expression(names + sum)),
              ::testing::HasSubstr("live at once"));
}

FUSELAGE_TEST_EVERY_LEVEL(ElementwiseTilesTest);

TEST(ElementwiseFunctions, EveryElementwiseOpHasOne) {
  // They run by their row functions: sine and cosine have no vector function in math-inl.h, and
  // vector functions take one or two operands.
  const std::set<std::string_view> without{"sin", "cos", "where"};
  for (const OpDef* op : all_ops().all()) {
    if (!op->has(Trait::elementwise) || declares<op::Expression>(*op) || without.contains(op->name))
      continue;
    const bool found = op->operands.size() == 1 ? unary_named(op->name).has_value()
                                                : binary_named(op->name).has_value();
    EXPECT_TRUE(found) << op->name << ": add it to backends/cpu/simd/elementwise/pointwise.cpp and "
                       << "to the tables in backends/cpu/kernels/elementwise_tiles.cpp";
  }
}

TEST(CheckKernels, NamesAnOpThatDoesNotExist) {
  const KernelInfo kernel{.op = "sigmod", .name = "fast"};
  try {
    check_kernels({&kernel});
    FAIL() << "no error";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("kernel 'fast' runs 'sigmod'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'sigmoid'"));
  }
}

}  // namespace
}  // namespace fuselage::cpu
