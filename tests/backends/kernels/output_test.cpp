#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/base/tensor.h"
#include "tests/backends/kernels/output_support.h"

namespace fuselage::cpu::output_test {
namespace {

using ::testing::Each;

class OutputTest : public KernelTest {};

Ranked fused(const Layer& layer, const RowsIn& x, std::size_t rows, std::size_t k,
             bool log_softmax) {
  Ranked best(rows, k);
  kernels().linear_k_best(x, rows, layer.packed, layer.bias_row(), log_softmax, k,
                          best.values.data(), best.ids.data(), nullptr);
  EXPECT_TRUE(best.guards_intact(rows * k));
  return best;
}

/// The normalizers beside the scores, which they do not change, are those of the logits.
void expect_normalizers(const Layer& layer, const RowsIn& x, std::size_t rows, std::size_t k,
                        Matrix& logits) {
  Ranked best(rows, k);
  std::vector<float> log_sums(rows + 1, -1.0f);
  kernels().linear_k_best(x, rows, layer.packed, layer.bias_row(), true, k, best.values.data(),
                          best.ids.data(), log_sums.data());
  const Ranked alone = fused(layer, x, rows, k, true);
  EXPECT_TRUE(same_bits(best.values.data(), alone.values.data(), rows * k));
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < logits.cols(); ++c) sum += std::exp(double{logits.row(r)[c]});
    if (std::isfinite(sum) && sum > 0) {
      EXPECT_NEAR(log_sums[r], std::log(sum), 1e-5 + 1e-7 * std::fabs(std::log(sum)));
    }
  }
  EXPECT_EQ(log_sums[rows], -1.0f) << "more rows than there are";
}

/// The fused kernel gives what the separate ones give.
void expect_same(const Layer& layer, const RowsIn& x, std::size_t rows, std::size_t k) {
  SCOPED_TRACE(::testing::Message() << rows << " rows, " << layer.w.cols() << " columns, k " << k);
  Matrix logits = layer.logits(x, rows);
  const Ranked best = k_best_of(logits, k);
  expect_normalizers(layer, x, rows, k, logits);
  const Ranked plain = fused(layer, x, rows, k, false);
  EXPECT_EQ(plain.ids, best.ids);
  ASSERT_TRUE(same_bits(plain.values.data(), best.values.data(), rows * k));

  Matrix scores(rows, logits.cols());
  kernels().log_softmax(logits.in(), rows, logits.cols(), scores.out());
  const Ranked wanted = k_best_of(scores, k);
  const Ranked got = fused(layer, x, rows, k, true);
  for (std::size_t r = 0; r < rows; ++r) {
    // Where scores exist, equal ones stay in the order of the logits.
    const bool has_scores = wanted.values[r * k] > -kInf;
    for (std::size_t i = r * k; i < (r + 1) * k; ++i) {
      ASSERT_EQ(got.ids[i], has_scores ? best.ids[i] : wanted.ids[i]) << "place " << i;
      const float value = wanted.values[i];
      if (std::isfinite(value))
        ASSERT_NEAR(got.values[i], value, 2e-6 * std::max(1.0f, std::fabs(value)));
      else
        ASSERT_EQ(got.values[i], value);
    }
  }
}

void expect_same(const Layer& layer, const Matrix& x, std::size_t k) {
  expect_same(layer, x.in(), x.rows(), k);
}

TEST_P(OutputTest, MatchesSeparateKernels) {
  for (const std::size_t n : kColumnCounts)
    for (const bool has_bias : {false, true}) {
      const Layer layer(9, n, has_bias, 1);
      for (const std::size_t rows : {1, 2, 3, 4, 6, 7, 13})
        for (const std::size_t k : {1, 2, 7, 64}) expect_same(layer, Matrix::random(rows, 9, 3), k);
    }
}

TEST_P(OutputTest, VocabularySizedRows) {
  const Layer layer(16, 32003, true, 4);
  for (const std::size_t rows : {1, 5, 97})
    for (const std::size_t k : {1, 7, 64}) expect_same(layer, Matrix::random(rows, 16, 5), k);
}

TEST_P(OutputTest, RowsAloneGiveTheSameBits) {
  for (const std::size_t n : {5, 64, 333, 2500}) {
    const Layer layer(20, n, true, 6);
    for (const std::size_t rows : {2, 3, 5, 6, 8, 25, 193}) {
      const Matrix x = Matrix::random(rows, 20, 7);
      for (const bool log_softmax : {false, true}) {
        const Ranked together = fused(layer, x.in(), rows, 5, log_softmax);
        for (std::size_t r = 0; r < rows; ++r) {
          const Ranked alone = fused(layer, x.alone(r), 1, 5, log_softmax);
          ASSERT_TRUE(same_bits(alone.values.data(), together.values.data() + r * 5, 5));
          ASSERT_TRUE(std::equal(alone.ids.begin(), alone.ids.begin() + 5,
                                 together.ids.begin() + static_cast<std::ptrdiff_t>(r * 5)));
        }
      }
    }
  }
}

// The kernel for one model and that for several.
TEST_P(OutputTest, BFloat16HasTheBitsOfItsFloats) {
  Layer layer(21, 333, true, 30);
  std::vector<std::uint16_t> halves(21 * 333);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    float& element = layer.w(i / 333, i % 333);
    halves[i] = float_to_bfloat16(element);
    element = bfloat16_to_float(halves[i]);
  }
  const auto wide = PackedMatrix::pack(layer.w.row(0), 21, 333, layer.w.stride(), false);
  const auto narrow = PackedMatrix::pack_bf16(halves.data(), 21, 333, 333, false);
  for (const std::size_t rows : {1, 2, 6, 7, 13}) {
    const Matrix x = Matrix::random(rows, 21, 31);
    const auto best = [&](const PackedMatrix& packed, bool ensemble) {
      Ranked ranked(rows, 4);
      const WeightedLayer member{x.in(), &packed, layer.bias_row(), 1};
      if (ensemble)
        kernels().ensemble_k_best({&member, 1}, rows, 4, ranked.values.data(), ranked.ids.data());
      else
        kernels().linear_k_best(x.in(), rows, packed, layer.bias_row(), true, 4,
                                ranked.values.data(), ranked.ids.data(), nullptr);
      return ranked;
    };
    for (const bool ensemble : {false, true}) {
      const Ranked wanted = best(wide, ensemble), got = best(narrow, ensemble);
      EXPECT_TRUE(same_bits(wanted.values.data(), got.values.data(), rows * 4));
      EXPECT_EQ(wanted.ids, got.ids);
    }
  }
}

TEST_P(OutputTest, TiesGoToTheLowerColumn) {
  Matrix w = Matrix::random(3, 300, 8);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 300; ++j) w(i, j) = std::round(w(i, j));
  const Layer layer(std::move(w), false, 8);
  Matrix x(4, 3);
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t i = 0; i < 3; ++i) x(r, i) = static_cast<float>(r * i);
  for (const std::size_t k : {1, 7, 64}) expect_same(layer, x, k);
}

TEST_P(OutputTest, MaskedColumns) {
  for (const std::size_t n : {7, 64, 100, 257})
    for (const std::size_t left : {0, 1, 3}) {
      Layer layer(4, n, true, 9);
      for (std::size_t j = 0; j + left < n; ++j) (*layer.bias)(0, j) = -kInf;
      for (const std::size_t k : {1, 4, 70}) expect_same(layer, Matrix::random(7, 4, 10), k);
    }
}

TEST_P(OutputTest, NaNAndInfinity) {
  for (const std::size_t n : {5, 64, 130}) {
    const Layer layer(4, n, true, 11);
    Matrix x = Matrix::random(8, 4, 12);
    x(1, 0) = kNaN;
    x(3, 1) = kInf;
    x(4, 2) = -kInf;
    x(6, 3) = 1e38f;
    for (const std::size_t k : {1, 4}) expect_same(layer, x, k);
    for (const float special : {kNaN, kInf})
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        Layer spoiled(4, n, true, 13);
        (*spoiled.bias)(0, at) = special;
        expect_same(spoiled, Matrix::random(3, 4, 14), 4);
      }
  }
}

// Logits far below zero or far apart neither vanish nor overflow.
TEST_P(OutputTest, LargeLogits) {
  for (const float offset : {-1e4f, -300.0f, 300.0f, 1e4f}) {
    Layer layer(4, 500, true, 15);
    for (std::size_t j = 0; j < 500; ++j) (*layer.bias)(0, j) += offset;
    expect_same(layer, Matrix::random(5, 4, 16), 7);
    expect_same(layer, Matrix::random(5, 4, 17, 100.0f), 7);
  }
}

TEST_P(OutputTest, ReadsRowsThroughAnIndex) {
  const Layer layer(8, 70, true, 18);
  const Matrix table = Matrix::random(5, 8, 19), fallback = Matrix::random(1, 8, 20);
  std::vector<std::int32_t> index;
  for (std::int32_t i = 0; i < 110; ++i) index.push_back(i % 6 - 1);
  expect_same(layer, table.in(index, fallback.row(0)), index.size(), 3);
}

/// The same from parts, each with its share of the blocks; a row that they do not know by itself.
Ranked in_parts(const Layer& layer, const RowsIn& x, std::size_t rows, std::size_t k,
                bool log_softmax, std::size_t count) {
  const std::size_t n = layer.packed.n(), blocks = (n + kOutputBlock - 1) / kOutputBlock;
  std::vector<Ranked> lists;
  for (std::size_t p = 0; p < count; ++p) lists.emplace_back(rows, k);
  std::vector<ExpSum> sums(blocks * rows);
  std::vector<OutputPart> parts;
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t first = blocks * p / count;
    parts.push_back({first, blocks * (p + 1) / count, lists[p].values.data(), lists[p].ids.data(),
                     log_softmax ? sums.data() + first * rows : nullptr});
    kernels().output_part(x, rows, layer.packed, layer.bias_row(), k, parts.back());
    EXPECT_TRUE(lists[p].guards_intact(rows * k));
  }
  Ranked best(rows, k);
  for (std::size_t r = 0; r < rows; ++r) {
    float* values = best.values.data() + r * k;
    std::int32_t* ids = best.ids.data() + r * k;
    if (!kernels().join_output_parts(parts, r, rows, n, k, values, ids, nullptr))
      kernels().linear_k_best(rows_from(x, r), 1, layer.packed, layer.bias_row(), log_softmax, k,
                              values, ids, nullptr);
  }
  return best;
}

TEST_P(OutputTest, PartsGiveTheSameBits) {
  for (const std::size_t n : {5, 500, 513, 3001}) {
    Layer layer(20, n, true, 31);
    (*layer.bias)(0, n / 2) = -kInf;
    for (const std::size_t rows : {1, 6, 67}) {
      Matrix x = Matrix::random(rows, 20, 32);
      x(rows / 2, 3) = rows > 1 ? kNaN : x(0, 3);
      for (const std::size_t k : {1, 7, 12})
        for (const bool log_softmax : {false, true}) {
          const Ranked whole = fused(layer, x.in(), rows, k, log_softmax);
          for (const std::size_t count : {1, 2, 3, 9}) {
            const Ranked parts = in_parts(layer, x.in(), rows, k, log_softmax, count);
            ASSERT_EQ(parts.ids, whole.ids);
            ASSERT_TRUE(same_bits(parts.values.data(), whole.values.data(), rows * k));
          }
        }
    }
  }
}

TEST_P(OutputTest, NoRowsAndNoPlaces) {
  const Layer layer(8, 70, true, 21);
  const Matrix x = Matrix::random(1, 8, 22);
  std::vector<float> values(3, 0.5f);
  std::vector<std::int32_t> ids(3, 77);
  kernels().linear_k_best(x.in(), 0, layer.packed, layer.bias_row(), true, 3, values.data(),
                          ids.data(), nullptr);
  kernels().linear_k_best(x.in(), 1, layer.packed, layer.bias_row(), true, 0, values.data(),
                          ids.data(), nullptr);
  EXPECT_THAT(values, Each(0.5f));
  EXPECT_THAT(ids, Each(77));
}

TEST_P(OutputTest, LogSumExp) {
  for (const std::size_t cols : kColumnCounts) {
    Matrix x = Matrix::random(4, cols, 23);
    for (std::size_t c = 0; c < cols; ++c) {
      x(1, c) += 1000;
      x(2, c) = c == 0 ? -kInf : x(2, c);
      x(3, c) = -kInf;
    }
    Matrix out = Matrix::result(4, 1);
    kernels().log_sum_exp(x.in(), 4, cols, out.out());
    for (std::size_t r = 0; r < 4; ++r) {
      double sum = 0;
      const double max = r == 1 ? 1000 : 0;
      for (std::size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(x(r, c)) - max);
      const double want = std::log(sum) + max;
      if (std::isinf(want))
        EXPECT_EQ(out(r, 0), -kInf);
      else
        EXPECT_NEAR(out(r, 0), want, 1e-6 * std::max(1.0, std::fabs(want)));
    }
    EXPECT_TRUE(out.guards_intact());
  }
}

FUSELAGE_TEST_EVERY_LEVEL(OutputTest);

}  // namespace
}  // namespace fuselage::cpu::output_test
