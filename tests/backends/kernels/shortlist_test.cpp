#include <algorithm>
#include <cstring>
#include <numeric>

#include "fuselage/base/quantized.h"
#include "tests/backends/kernels/output_support.h"
#include "tests/backends/kernels/quantized_vectors.h"

namespace fuselage::cpu::shortlist_test {
namespace {

class ShortlistTest : public KernelTest {};

using Columns = std::vector<std::int32_t>;

/// The matrix of a layer, column by column.
class StoredColumns {
 public:
  explicit StoredColumns(const Layer& layer) : columns_(layer.w.cols(), layer.w.rows(), 0) {
    for (std::size_t c = 0; c < layer.w.cols(); ++c)
      for (std::size_t i = 0; i < layer.w.rows(); ++i) columns_(c, i) = layer.w(i, c);
  }

  MatrixColumns get() const {
    return {.data = reinterpret_cast<const std::byte*>(columns_.row(0)),
            .stride = columns_.stride() * sizeof(float),
            .k = columns_.cols()};
  }
  const Matrix& columns() const { return columns_; }

 private:
  Matrix columns_;
};

/// Every `step`-th column.
Columns every(std::size_t step, std::size_t n) {
  Columns columns;
  for (std::size_t c = 0; c < n; c += step) columns.push_back(static_cast<std::int32_t>(c));
  return columns;
}

std::vector<ListedRows> one_list(std::size_t rows, const Columns& columns) {
  return {{rows, columns}};
}

Ranked best_of(const RowsIn& x, std::size_t rows, const MatrixColumns& matrix, const float* bias,
               const Columns& columns, std::size_t k, bool log_softmax) {
  Ranked best(rows, k);
  kernels().shortlist_k_best(x, one_list(rows, columns), matrix, bias, log_softmax, k,
                             best.values.data(), best.ids.data());
  EXPECT_TRUE(best.guards_intact(rows * k));
  return best;
}

/// Logits as the plain kernels have them, of some columns.
Matrix some_logits(const Layer& layer, const RowsIn& x, std::size_t rows, const Columns& columns) {
  const Matrix all = layer.logits(x, rows);
  Matrix some(rows, columns.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns.size(); ++c)
      some(r, c) = all(r, static_cast<std::size_t>(columns[c]));
  return some;
}

void expect_near(const Ranked& got, const Ranked& wanted, const Columns& columns,
                 std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::int32_t place = wanted.ids[i];
    EXPECT_EQ(got.ids[i], place < 0 ? -1 : columns[static_cast<std::size_t>(place)]);
    const float value = wanted.values[i];
    if (std::isfinite(value))
      EXPECT_NEAR(got.values[i], value, 1e-5 * std::max(1.0f, std::fabs(value)));
    else
      EXPECT_EQ(got.values[i], value);
  }
}

/// The k best among some columns are those among their logits.
void expect_best(const Layer& layer, const RowsIn& x, std::size_t rows, const Columns& columns,
                 std::size_t k) {
  SCOPED_TRACE(::testing::Message() << rows << " rows, " << layer.w.rows() << " terms, "
                                    << columns.size() << " columns, k " << k);
  const StoredColumns stored(layer);
  const Matrix logits = some_logits(layer, x, rows, columns);
  expect_near(best_of(x, rows, stored.get(), layer.bias_row(), columns, k, false),
              k_best_of(logits, k), columns, rows * k);
  std::vector<float> products(rows * columns.size());
  kernels().shortlist_products(x, one_list(rows, columns), stored.get(), layer.bias_row(),
                               products.data());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const float logit = logits(r, c);
      const float product = products[r * columns.size() + c];
      if (std::isfinite(logit))
        ASSERT_NEAR(product, logit, 1e-5 * std::max(1.0f, std::fabs(logit)));
      else
        ASSERT_TRUE(product == logit || (std::isnan(product) && std::isnan(logit)));
    }
  Matrix scores(rows, columns.size());
  kernels().log_softmax(logits.in(), rows, columns.size(), scores.out());
  expect_near(best_of(x, rows, stored.get(), layer.bias_row(), columns, k, true),
              k_best_of(scores, k), columns, rows * k);
}

TEST_P(ShortlistTest, MatchesSeparateKernelsOnSomeColumns) {
  for (const std::size_t terms : {1, 7, 16, 33})
    for (const bool has_bias : {false, true}) {
      const Layer layer(terms, 700, has_bias, 1);
      for (const std::size_t rows : {1, 2, 5, 6, 7, 13, 40})
        for (const std::size_t step : {1, 2, 5, 100, 699, 700})
          expect_best(layer, Matrix::random(rows, terms, 3).in(), rows, every(step, 700), 7);
    }
}

TEST_P(ShortlistTest, ListsOfEveryLength) {
  const Layer layer(20, 300, true, 4);
  const Matrix x = Matrix::random(3, 20, 5);
  for (std::size_t count = 1; count < 140; ++count) {
    Columns columns = every(2, 300);
    columns.resize(count);
    for (const std::size_t k : {1, 4, 13}) expect_best(layer, x.in(), 3, columns, k);
  }
}

/// The log-probabilities of a row's list are those of the k best.
TEST_P(ShortlistTest, LogSoftmaxHasTheBitsOfTheBest) {
  const Layer layer(20, 700, true, 31);
  const StoredColumns stored(layer);
  const Matrix x = Matrix::random(1, 20, 32);
  for (std::size_t count = 1; count <= 350; count += count < 140 ? 1 : 37) {
    Columns columns = every(2, 700);
    columns.resize(count);
    Matrix logits(1, count), scores(1, count);
    kernels().shortlist_products(x.in(), one_list(1, columns), stored.get(), layer.bias_row(),
                                 logits.row(0));
    kernels().shortlist_log_softmax({logits.row(0), count}, scores.row(0));
    const Ranked best = best_of(x.in(), 1, stored.get(), layer.bias_row(), columns, count, true);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_TRUE(same_bits(scores.row(0) + best.ids[i] / 2, best.values.data() + i, 1)) << count;
  }
}

TEST_P(ShortlistTest, LogSoftmaxOfValuesThatAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto scores_of = [&](const Matrix& logits) {
    std::vector<float> scores(logits.cols());
    kernels().shortlist_log_softmax({logits.row(0), logits.cols()}, scores.data());
    return scores;
  };
  Matrix logits = Matrix::random(1, 150, 33);
  for (const float value : {kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    logits(0, 140) = value;
    for (const float score : scores_of(logits)) EXPECT_TRUE(std::isnan(score)) << value;
  }
  logits(0, 140) = -kInfinity;
  for (std::size_t i = 0; i < 150; ++i)
    EXPECT_EQ(std::isfinite(scores_of(logits)[i]), i != 140) << i;
  std::fill_n(logits.row(0), 150, -kInfinity);
  EXPECT_EQ(scores_of(logits), std::vector<float>(150, -kInfinity));
}

TEST_P(ShortlistTest, RowsAloneAndColumnsAmongOthersGiveTheSameBits) {
  const Layer layer(37, 400, true, 6);
  const StoredColumns stored(layer);
  const Matrix x = Matrix::random(40, 37, 7);
  const Columns columns = every(3, 400);
  for (const bool log_softmax : {false, true}) {
    const Ranked together =
        best_of(x.in(), 40, stored.get(), layer.bias_row(), columns, 5, log_softmax);
    for (std::size_t r = 0; r < 40; ++r) {
      const Ranked alone =
          best_of(x.alone(r), 1, stored.get(), layer.bias_row(), columns, 5, log_softmax);
      ASSERT_TRUE(same_bits(alone.values.data(), together.values.data() + r * 5, 5));
      ASSERT_TRUE(std::equal(alone.ids.begin(), alone.ids.begin() + 5,
                             together.ids.begin() + static_cast<std::ptrdiff_t>(r * 5)));
    }
  }
  std::vector<float> together(40 * columns.size()), alone(columns.size());
  const auto multiply = [&](const RowsIn& rows, std::size_t count, std::vector<float>& out) {
    kernels().shortlist_products(rows, one_list(count, columns), stored.get(), layer.bias_row(),
                                 out.data());
  };
  multiply(x.in(), 40, together);
  for (std::size_t r = 0; r < 40; ++r) {
    multiply(x.alone(r), 1, alone);
    ASSERT_TRUE(same_bits(alone.data(), together.data() + r * alone.size(), alone.size()));
  }
  const Ranked among = best_of(x.in(), 1, stored.get(), layer.bias_row(), columns, 134, false);
  for (std::size_t i = 0; i < 134; ++i) {
    const Ranked one = best_of(x.in(), 1, stored.get(), layer.bias_row(), {among.ids[i]}, 1, false);
    ASSERT_TRUE(same_bits(one.values.data(), among.values.data() + i, 1));
  }
}

/// `count` lists of columns below n for 1 … 3 rows each, every fifth one empty, and every seventh
/// one descending.
std::vector<Columns> different_lists(std::size_t count, std::size_t n) {
  std::vector<Columns> lists;
  for (std::size_t i = 0; i < count; ++i) {
    lists.push_back(i % 5 == 4 ? Columns() : every(1 + 3 * i % 11, n));
    if (i % 7 == 3) std::reverse(lists.back().begin(), lists.back().end());
  }
  return lists;
}

// The matrix is larger than what its columns' lists take turns at.
TEST_P(ShortlistTest, SeveralListsGiveTheBitsOfEachAlone) {
  const Layer layer(130, 900, true, 26);
  const StoredColumns stored(layer);
  const Matrix x = Matrix::random(kListedRows, 130, 27);
  const std::vector<Columns> columns = different_lists(kListedRows / 2, 900);
  std::vector<ListedRows> lists;
  std::size_t rows = 0, pairs = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    lists.push_back({1 + i % 3, columns[i]});
    rows += lists.back().rows;
    pairs += lists.back().rows * columns[i].size();
  }
  ASSERT_EQ(rows, kListedRows - 1);
  Ranked together(rows, 4);
  kernels().shortlist_k_best(x.in(), lists, stored.get(), layer.bias_row(), true, 4,
                             together.values.data(), together.ids.data());
  std::vector<float> products(pairs);
  kernels().shortlist_products(x.in(), lists, stored.get(), layer.bias_row(), products.data());
  std::size_t row = 0;
  const float* product = products.data();
  for (const ListedRows& list : lists)
    for (std::size_t r = 0; r < list.rows; ++r, ++row) {
      const Columns own(list.columns.begin(), list.columns.end());
      const Ranked alone = best_of(x.alone(row), 1, stored.get(), layer.bias_row(), own, 4, true);
      ASSERT_TRUE(same_bits(alone.values.data(), together.values.data() + row * 4, 4));
      ASSERT_TRUE(std::equal(alone.ids.begin(), alone.ids.begin() + 4,
                             together.ids.begin() + static_cast<std::ptrdiff_t>(row * 4)));
      std::vector<float> expected(own.size());
      kernels().shortlist_products(x.alone(row), one_list(1, own), stored.get(), layer.bias_row(),
                                   expected.data());
      ASSERT_TRUE(same_bits(expected.data(), product, own.size()));
      product += own.size();
    }
}

/// Columns of a matrix of integers as a matrix of their own.
PackedMatrix pack_columns(const QuantizedVectors& matrix, DType dtype, std::size_t k,
                          const Columns& columns) {
  const std::size_t size = vector_bytes(dtype, static_cast<std::int64_t>(k));
  std::vector<std::byte> own(columns.size() * size);
  for (std::size_t c = 0; c < columns.size(); ++c)
    std::memcpy(own.data() + c * size, matrix.data() + static_cast<std::size_t>(columns[c]) * size,
                size);
  return PackedMatrix::pack_quantized(dtype, own.data(), k, columns.size());
}

TEST_P(ShortlistTest, PackedListsGiveTheBitsOfColumnsWhereTheyAre) {
  for (const DType dtype : {DType::qint8, DType::qint16})
    for (const std::size_t k : {5, 64, 130})
      for (const bool has_bias : {false, true}) {
        const QuantizedVectors matrix = QuantizedVectors::random(dtype, 900, k, 90, 28, 0);
        const QuantizedVectors x = QuantizedVectors::random(dtype, kListedRows, k, 90, 29, 3);
        const Matrix bias = Matrix::random(1, 900, 30);
        const std::size_t size = vector_bytes(dtype, static_cast<std::int64_t>(k));
        const MatrixColumns columns{.data = matrix.data(), .stride = size, .k = k, .dtype = dtype};
        const std::vector<Columns> all = different_lists(kListedRows / 2, 900);
        std::vector<PackedMatrix> packed;
        std::vector<std::vector<float>> biases;
        std::vector<ListedRows> in_place, copied;
        for (std::size_t i = 0; i < all.size(); ++i) {
          packed.push_back(pack_columns(matrix, dtype, k, all[i]));
          biases.emplace_back();
          for (const std::int32_t c : all[i])
            biases.back().push_back(bias(0, static_cast<std::size_t>(c)));
          in_place.push_back({1 + i % 3, all[i]});
        }
        copied = in_place;
        std::size_t rows = 0;
        for (std::size_t i = 0; i < all.size(); rows += copied[i++].rows)
          copied[i].packed = {&packed[i], has_bias ? biases[i].data() : nullptr};
        const auto best = [&](const std::vector<ListedRows>& lists) {
          Ranked ranked(rows, 4);
          kernels().shortlist_k_best(x.matrix().in(), lists, columns,
                                     has_bias ? bias.row(0) : nullptr, true, 4,
                                     ranked.values.data(), ranked.ids.data());
          return ranked;
        };
        const Ranked want = best(in_place), got = best(copied);
        ASSERT_TRUE(same_bits(want.values.data(), got.values.data(), rows * 4));
        ASSERT_EQ(want.ids, got.ids);
      }
}

TEST_P(ShortlistTest, TiesGoToTheLowerColumn) {
  Matrix w = Matrix::random(3, 300, 8);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 300; ++j) w(i, j) = std::round(w(i, j));
  const Layer layer(std::move(w), false, 8);
  Matrix x(4, 3);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t i = 0; i < 3; ++i) x(r, i) = static_cast<float>(r * i);
  for (const std::size_t k : {1, 7, 64}) expect_best(layer, x.in(), 4, every(2, 300), k);
}

TEST_P(ShortlistTest, MaskedColumns) {
  for (const std::size_t left : {0, 1, 3}) {
    Layer layer(4, 257, true, 9);
    for (std::size_t j = 0; j + left < 257; ++j) (*layer.bias)(0, j) = -kInf;
    for (const std::size_t k : {1, 4, 70})
      expect_best(layer, Matrix::random(7, 4, 10).in(), 7, every(1, 257), k);
  }
}

TEST_P(ShortlistTest, NaNAndInfinity) {
  const Layer layer(4, 130, true, 11);
  Matrix x = Matrix::random(8, 4, 12);
  x(1, 0) = kNaN;
  x(3, 1) = kInf;
  x(4, 2) = -kInf;
  for (const std::size_t k : {1, 4}) expect_best(layer, x.in(), 8, every(3, 130), k);
  for (const float special : {kNaN, kInf})
    for (const std::size_t at : {0, 64, 129}) {
      Layer spoiled(4, 130, true, 13);
      (*spoiled.bias)(0, at) = special;
      expect_best(spoiled, Matrix::random(3, 4, 14).in(), 3, every(1, 130), 4);
    }
}

TEST_P(ShortlistTest, LargeLogits) {
  for (const float offset : {-1e4f, -300.0f, 300.0f, 1e4f}) {
    Layer layer(4, 500, true, 15);
    for (std::size_t j = 0; j < 500; ++j) (*layer.bias)(0, j) += offset;
    expect_best(layer, Matrix::random(5, 4, 16).in(), 5, every(2, 500), 7);
  }
}

TEST_P(ShortlistTest, ReadsRowsThroughAnIndex) {
  const Layer layer(8, 70, true, 18);
  const Matrix table = Matrix::random(5, 8, 19), fallback = Matrix::random(1, 8, 20);
  std::vector<std::int32_t> index;
  for (std::int32_t i = 0; i < 50; ++i) index.push_back(i % 6 - 1);
  expect_best(layer, table.in(index, fallback.row(0)), index.size(), every(2, 70), 3);
}

TEST_P(ShortlistTest, NoRowsNoPlacesAndNoColumns) {
  const Layer layer(8, 70, true, 21);
  const StoredColumns stored(layer);
  const Matrix x = Matrix::random(1, 8, 22);
  best_of(x.in(), 0, stored.get(), nullptr, {3}, 3, true);
  best_of(x.in(), 1, stored.get(), nullptr, {3}, 0, true);
  for (const bool log_softmax : {false, true}) {
    const Ranked none = best_of(x.in(), 1, stored.get(), nullptr, {}, 2, log_softmax);
    EXPECT_EQ(none.ids[0], -1);
    EXPECT_EQ(none.values[1], -kInf);
  }
}

/// Rows and columns as quantized vectors.
Tensor quantized_rows(const Matrix& x, const Quantizer& quantizer) {
  Tensor rows(DType::f32,
              {static_cast<std::int64_t>(x.rows()), static_cast<std::int64_t>(x.cols())});
  for (std::size_t r = 0; r < x.rows(); ++r)
    std::copy_n(x.row(r), x.cols(), rows.mutable_data<float>() + r * x.cols());
  return quantized(quantizer, rows);
}

// Around a step of each type at each level.
const std::vector<std::size_t> kTerms = {1, 5, 8, 9, 32, 33, 64, 67, 127, 128, 130, 261};

Quantizer quantizer_to(DType to) {
  if (to == DType::qint16) return {.to = to, .largest = 2000};
  return {.to = to, .largest = to == DType::qlog4 ? 128 : 127};
}

TEST_P(ShortlistTest, QuantizedProductsHaveTheBitsOfThePlainKernel) {
  for (const DType to : {DType::qint8, DType::qint16, DType::qlog4})
    for (const std::size_t terms : kTerms) {
      const Layer layer(terms, 150, true, 23);
      const StoredColumns stored(layer);
      const Tensor w = quantized_rows(stored.columns(), quantizer_to(to));
      const Tensor x = quantized_rows(Matrix::random(9, terms, 24), quantizer_to(row_type_of(to)));
      const std::size_t stride = vector_bytes(to, static_cast<std::int64_t>(terms));
      const auto packed = PackedMatrix::pack_quantized(to, w.bytes(), terms, 150);
      const std::size_t elements = packed.row_elements();
      const RowsIn rows{reinterpret_cast<const float*>(x.bytes()), elements, nullptr, nullptr,
                        elements};
      const MatrixColumns columns{.data = w.bytes(), .stride = stride, .k = terms, .dtype = to};
      Ranked wanted(9, 150);
      Matrix logits(9, 150);
      kernels().gemm(rows, 9, packed, logits.out());
      wanted = k_best_of(logits, 150);
      const Ranked got = best_of(rows, 9, columns, nullptr, every(1, 150), 150, false);
      EXPECT_TRUE(same_bits(got.values.data(), wanted.values.data(), 9 * 150))
          << to_string(to) << ", " << terms << " terms";
      EXPECT_EQ(got.ids, wanted.ids);
    }
}

TEST_P(ShortlistTest, BFloat16HasTheBitsOfItsFloats) {
  for (const std::size_t terms : kTerms) {
    Layer layer(terms, 70, true, 25);
    std::vector<std::uint16_t> halves(70 * terms);
    for (std::size_t c = 0; c < 70; ++c)
      for (std::size_t i = 0; i < terms; ++i) {
        halves[c * terms + i] = float_to_bfloat16(layer.w(i, c));
        layer.w(i, c) = bfloat16_to_float(halves[c * terms + i]);
      }
    const StoredColumns wide(layer);
    const MatrixColumns narrow{.data = reinterpret_cast<const std::byte*>(halves.data()),
                               .stride = terms * sizeof(std::uint16_t),
                               .k = terms,
                               .dtype = DType::bf16};
    const Matrix x = Matrix::random(9, terms, 26);
    const Ranked wanted = best_of(x.in(), 9, wide.get(), layer.bias_row(), every(2, 70), 35, false);
    const Ranked got = best_of(x.in(), 9, narrow, layer.bias_row(), every(2, 70), 35, false);
    EXPECT_TRUE(same_bits(got.values.data(), wanted.values.data(), 9 * 35)) << terms << " terms";
    EXPECT_EQ(got.ids, wanted.ids);
  }
}

FUSELAGE_TEST_EVERY_LEVEL(ShortlistTest);

}  // namespace
}  // namespace fuselage::cpu::shortlist_test
