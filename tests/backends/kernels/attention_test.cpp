#include <algorithm>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu::attention_test {
namespace {

class AttentionTest : public KernelTest {};

// Runs of pairs with an empty one, starting off 0.
const std::vector<std::int32_t> kBegin = {2, 5, 5, 6, 19, 36};

Segments all_segments() { return {kBegin.data(), kBegin.size() - 1}; }
std::size_t pair_count() { return static_cast<std::size_t>(kBegin.back()); }

TEST_P(AttentionTest, HeadDot) {
  for (const std::size_t width : kWidths)
    for (const std::size_t heads : {1, 3, 8})
      for (const std::size_t rows : {1, 2, 13}) {
        const std::size_t cols = width * heads;
        const Matrix q = Matrix::random(rows, cols, 1), k = Matrix::random(rows, cols, 2);
        Matrix y = Matrix::result(rows, heads);
        kernels().head_dot(q.in(), k.in(), heads, 0.125f, rows, cols, y.out());
        ASSERT_TRUE(y.guards_intact());
        for (std::size_t r = 0; r < rows; ++r) {
          Matrix alone = Matrix::result(1, heads);
          kernels().head_dot(q.alone(r), k.alone(r), heads, 0.125f, 1, cols, alone.out());
          ASSERT_TRUE(same_bits(alone.row(0), y.row(r), heads));
          for (std::size_t h = 0; h < heads; ++h) {
            double sum = 0;
            for (std::size_t c = h * width; c < (h + 1) * width; ++c)
              sum += static_cast<double>(q(r, c)) * k(r, c);
            ASSERT_NEAR(y(r, h), 0.125 * sum, 1e-6 * std::sqrt(static_cast<double>(width)));
          }
        }
      }
}

TEST_P(AttentionTest, HeadDotReadsRowsThroughAnIndex) {
  const Matrix q = Matrix::random(3, 24, 3), k = Matrix::random(5, 24, 4);
  const Matrix fallback = Matrix::random(1, 24, 5);
  const std::vector<std::int32_t> iq = {0, 0, 2, 1}, ik = {4, -1, 3, -1};
  Matrix y = Matrix::result(4, 2), want = Matrix::result(1, 2);
  kernels().head_dot(q.in(iq, nullptr), k.in(ik, fallback.row(0)), 2, 1.0f, 4, 24, y.out());
  for (std::size_t r = 0; r < 4; ++r) {
    const RowsIn right = ik[r] < 0 ? fallback.in() : k.alone(ik[r]);
    kernels().head_dot(q.alone(iq[r]), right, 2, 1.0f, 1, 24, want.out());
    EXPECT_TRUE(same_bits(want.row(0), y.row(r), 2));
  }
}

/// Left rows with keys of their own, and runs of left rows that share theirs.
struct PairsOfGroups {
  std::vector<std::int32_t> begin = {0}, left, right;

  /// Adds `rows` left rows, each paired with the keys first … first + keys - 1.
  void add(std::int32_t rows, std::int32_t first, std::int32_t keys) {
    for (std::int32_t r = 0; r < rows; ++r) {
      const auto row = static_cast<std::int32_t>(begin.size()) - 1;
      for (std::int32_t k = 0; k < keys; ++k) {
        left.push_back(row);
        right.push_back(first + k);
      }
      begin.push_back(static_cast<std::int32_t>(left.size()));
    }
  }

  Segments segments() const { return {begin.data(), begin.size() - 1}; }
};

TEST_P(AttentionTest, DotScoresAreTheDotProductsOfPairs) {
  PairsOfGroups pairs;
  std::int32_t keys = 0;
  for (const std::int32_t rows : {1, 3, 4, 5, 9})
    for (const std::int32_t count : {0, 1, 3, 5, 8, 16, 17, 21, 40}) {
      pairs.add(rows, keys, count);
      keys += count;
    }
  pairs.add(2, 0, 3);
  const auto lefts = pairs.begin.size() - 1;
  for (const std::size_t width : {1, 7, 16, 17, 32, 48, 64})
    for (const std::size_t heads : {1, 3, 4, 8}) {
      const std::size_t cols = width * heads;
      Matrix q = Matrix::random(lefts, cols, 40), k = Matrix::random(keys, cols, 41);
      // All products of some pairs are -0; other keys contain NaN and infinity.
      for (std::size_t r = 0; r < lefts; r += 2)
        for (std::size_t c = 0; c < cols; ++c) q(r, c) = -0.0f;
      for (std::size_t r = 0; r < k.rows(); r += 3)
        for (std::size_t c = 0; c < cols; ++c) k(r, c) = std::fabs(k(r, c));
      k(20, 0) = kNaN;
      k(30, cols - 1) = kInf;
      const std::size_t count = pairs.left.size();
      // Where results have gaps between rows, the general loop multiplies.
      Matrix want = Matrix::result(count, heads), got = Matrix::result(count, heads, 0);
      kernels().head_dot(q.in(pairs.left, nullptr), k.in(pairs.right, nullptr), heads, 0.3f, count,
                         cols, want.out());
      kernels().dot_scores(q.in(pairs.left, nullptr), k.in(pairs.right, nullptr), heads, 0.3f, cols,
                           pairs.segments(), got.row(0));
      ASSERT_TRUE(got.guards_intact());
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t h = 0; h < heads; ++h)
          ASSERT_TRUE(same_bits(&want(p, h), &got(p, h), 1) ||
                      (std::isnan(want(p, h)) && std::isnan(got(p, h))))
              << "pair " << p << ", head " << h << " of " << heads << ", width " << width;
    }
  kernels().dot_scores(Matrix(0, 4).in(), Matrix(0, 4).in(), 2, 1, 4, {pairs.begin.data(), 0},
                       nullptr);
}

TEST_P(AttentionTest, BiasesAreAddedToTheScoresOfPairs) {
  const std::size_t pairs = pair_count();
  std::vector<std::int32_t> index(pairs);
  for (std::size_t p = 0; p < pairs; ++p) index[p] = static_cast<std::int32_t>(p * 7 % 5) - 1;
  for (const std::size_t heads : {1, 3, 7, 8, 12, 15, 16, 17, 33})
    for (const std::size_t gap : {0, 3}) {
      const Matrix rows = Matrix::random(pairs, heads, 50, 1.0f, gap);
      const Matrix table = Matrix::random(4, heads, 51, 1.0f, gap);
      const Matrix scores = Matrix::random(pairs, heads, 52, 1.0f, 0);
      for (const RowsIn& biases : {rows.in(), table.in(index, nullptr)}) {
        Matrix y = Matrix::result(pairs, heads, 0);
        for (std::size_t p = 0; p < pairs; ++p)
          for (std::size_t h = 0; h < heads; ++h) y(p, h) = scores(p, h);
        kernels().add_biases(biases, heads, all_segments(), y.row(0));
        ASSERT_TRUE(y.guards_intact());
        for (std::size_t p = 0; p < pairs; ++p) {
          const bool is_paired = p >= static_cast<std::size_t>(kBegin.front());
          for (std::size_t h = 0; h < heads; ++h)
            ASSERT_EQ(y(p, h), scores(p, h) + (is_paired ? row_of(biases, p, heads)[h] : 0.0f))
                << "pair " << p << ", head " << h << " of " << heads;
        }
      }
    }
  kernels().add_biases(Matrix(0, 4).in(), 4, {kBegin.data(), 0}, nullptr);
}

/// exp of random numbers, some of them as large as they may be.
Matrix factors(std::size_t rows, std::size_t cols, unsigned seed, bool extreme) {
  Matrix m = Matrix::random(rows, cols, seed, 2.0f);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) {
      if (extreme && (r + c) % 3 == 0) m(r, c) = (r + 2 * c) % 2 == 0 ? 87.0f : -87.0f;
      m(r, c) = std::exp(m(r, c));
    }
  return m;
}

TEST_P(AttentionTest, FactoredScores) {
  for (const bool extreme : {false, true})
    for (const std::size_t cols : kColumnCounts) {
      const Matrix q = factors(kBegin.size() - 1, cols, 20, extreme);
      const Matrix k = factors(pair_count(), cols, 21, extreme);
      const Matrix v = Matrix::random(1, cols, 22);
      Matrix y = Matrix::result(pair_count(), 1, 0);
      kernels().factored_scores(q.in(), k.in(), v.row(0), cols, all_segments(), y.row(0));
      ASSERT_TRUE(y.guards_intact());
      double sum_of_v = 0, size = 0;
      for (std::size_t c = 0; c < cols; ++c) {
        sum_of_v += v(0, c);
        size += std::fabs(v(0, c));
      }
      for (std::size_t i = 0; i + 1 < kBegin.size(); ++i)
        for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p) {
          double want = 0;
          for (std::size_t c = 0; c < cols; ++c)
            want += v(0, c) * std::tanh(std::log(static_cast<double>(q(i, c))) +
                                        std::log(static_cast<double>(k(p, c))));
          ASSERT_NEAR(y(p, 0) + sum_of_v, want, 2e-6 * size);
          const std::int32_t alone[] = {0, 1};
          float score = 0;
          kernels().factored_scores(q.alone(i), k.alone(p), v.row(0), cols, {alone, 1}, &score);
          ASSERT_EQ(score, y(p, 0));
        }
    }
}

TEST_P(AttentionTest, SegmentSoftmax) {
  for (const std::size_t heads : kWidths) {
    Matrix e = Matrix::random(pair_count(), heads, 6, 3.0f, 0);
    Matrix y = Matrix::result(pair_count(), heads, 0);
    kernels().segment_softmax(e.row(0), heads, all_segments(), y.row(0));
    ASSERT_TRUE(y.guards_intact());
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t h = 0; h < heads; ++h) ASSERT_EQ(y(p, h), Matrix::kGuard);
    for (std::size_t i = 0; i + 1 < kBegin.size(); ++i) {
      Matrix alone = Matrix::result(pair_count(), heads, 0);
      kernels().segment_softmax(e.row(0), heads, {kBegin.data() + i, 1}, alone.row(0));
      for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p)
        ASSERT_TRUE(same_bits(alone.row(p), y.row(p), heads));
      for (std::size_t h = 0; h < heads; ++h) {
        double sum = 0;
        for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p)
          sum += std::exp(static_cast<double>(e(p, h)));
        for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p)
          ASSERT_NEAR(y(p, h), std::exp(static_cast<double>(e(p, h))) / sum, 1e-6);
      }
    }
    kernels().segment_softmax(e.row(0), heads, all_segments(), e.row(0));
    for (std::size_t p = 2; p < pair_count(); ++p)
      ASSERT_TRUE(same_bits(e.row(p), y.row(p), heads)) << "in place";
  }
}

TEST_P(AttentionTest, SegmentSoftmaxOfMinusInfinity) {
  const std::vector<std::int32_t> begin = {0, 2, 4};
  for (const std::size_t heads : {1, 8, 17}) {
    std::vector<float> e(4 * heads, -kInf);
    e[0] = 7.0f;
    kernels().segment_softmax(e.data(), heads, {begin.data(), 2}, e.data());
    EXPECT_EQ(e[0], 1.0f);
    for (std::size_t i = 1; i < e.size(); ++i) EXPECT_EQ(e[i], 0.0f);
  }
}

TEST_P(AttentionTest, MixRows) {
  for (const std::size_t width : {1, 2, 7, 8, 15, 16, 17, 32, 33, 63, 64, 65, 100, 129})
    for (const std::size_t heads : {1, 3, 8}) {
      const std::size_t cols = width * heads;
      const Matrix x = Matrix::random(pair_count(), cols, 7);
      const Matrix w = Matrix::random(pair_count(), heads, 8, 1.0f, 0);
      Matrix y = Matrix::result(kBegin.size() - 1, cols);
      kernels().mix_rows(w.row(0), heads, x.in(), cols, all_segments(), y.out());
      ASSERT_TRUE(y.guards_intact());
      for (std::size_t i = 0; i + 1 < kBegin.size(); ++i) {
        Matrix alone = Matrix::result(1, cols);
        kernels().mix_rows(w.row(0), heads, x.in(), cols, {kBegin.data() + i, 1}, alone.out());
        ASSERT_TRUE(same_bits(alone.row(0), y.row(i), cols));
        for (std::size_t c = 0; c < cols; ++c) {
          double sum = 0, size = 0;
          for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p) {
            sum += static_cast<double>(w(p, c / width)) * x(p, c);
            size += std::fabs(static_cast<double>(w(p, c / width)) * x(p, c));
          }
          ASSERT_NEAR(y(i, c), sum, 2e-6 * size);
        }
      }
    }
}

TEST_P(AttentionTest, MixAndMeanReadRowsThroughAnIndex) {
  const std::size_t cols = 42;
  const Matrix x = Matrix::random(4, cols, 9), fallback = Matrix::random(1, cols, 10);
  const std::vector<std::int32_t> index = {3, -1, 0, 1, 1}, begin = {0, 3, 5};
  const std::vector<float> ones(5, 1.0f);
  Matrix y = Matrix::result(2, cols), mean = Matrix::result(2, cols);
  const Segments segments{begin.data(), 2};
  kernels().mix_rows(ones.data(), 1, x.in(index, fallback.row(0)), cols, segments, y.out());
  kernels().mean_rows(x.in(index, fallback.row(0)), cols, segments, mean.out());
  for (std::size_t c = 0; c < cols; ++c) {
    EXPECT_EQ(y(0, c), x(3, c) + fallback(0, c) + x(0, c));
    EXPECT_EQ(y(1, c), x(1, c) + x(1, c));
    EXPECT_EQ(mean(0, c), y(0, c) / 3.0f);
    EXPECT_EQ(mean(1, c), x(1, c));
  }
  kernels().mean_rows(x.in(index, nullptr), cols, segments, mean.out());
  for (std::size_t c = 0; c < cols; ++c) EXPECT_EQ(mean(0, c), (x(3, c) + x(0, c)) / 3.0f);
}

/// Left rows of two sentences, the second as long as the first and with no word in common, and
/// pairs of each left row with the right rows of its sentence.
struct Siblings {
  Siblings(std::size_t count, std::int32_t words) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t first = i < count / 2 ? 0 : words;
      for (std::int32_t w = 0; w < words; ++w) index.push_back(first + w);
      begin.push_back(static_cast<std::int32_t>(index.size()));
    }
  }

  Segments all() const { return {begin.data(), begin.size() - 1}; }
  Segments alone(std::size_t i) const { return {begin.data() + i, 1}; }

  std::vector<std::int32_t> index;
  std::vector<std::int32_t> begin = {0};
};

TEST_P(AttentionTest, SiblingsGetTheBitsOfEachAlone) {
  for (const std::size_t cols : {1, 16, 63, 64, 100, 192})
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 12, 13, 27}) {
      const Siblings siblings(count, 5);
      const std::size_t pairs = siblings.index.size();
      const Matrix q = factors(count, cols, 30, false), k = factors(10, cols, 31, false);
      const Matrix v = Matrix::random(1, cols, 32);
      const RowsIn right = k.in(siblings.index, nullptr);
      std::vector<float> scores(pairs), score(pairs);
      kernels().factored_scores(q.in(), right, v.row(0), cols, siblings.all(), scores.data());
      Matrix mixed = Matrix::result(count, cols), alone = Matrix::result(1, cols);
      kernels().mix_rows(scores.data(), 1, right, cols, siblings.all(), mixed.out());
      ASSERT_TRUE(mixed.guards_intact());
      for (std::size_t i = 0; i < count; ++i) {
        kernels().factored_scores(q.alone(i), right, v.row(0), cols, siblings.alone(i),
                                  score.data());
        kernels().mix_rows(scores.data(), 1, right, cols, siblings.alone(i), alone.out());
        ASSERT_TRUE(same_bits(alone.row(0), mixed.row(i), cols));
      }
      ASSERT_EQ(score, scores);
    }
}

TEST_P(AttentionTest, MeanRows) {
  for (const std::size_t cols : kColumnCounts) {
    const Matrix x = Matrix::random(pair_count(), cols, 11);
    Matrix y = Matrix::result(kBegin.size() - 1, cols);
    kernels().mean_rows(x.in(), cols, all_segments(), y.out());
    ASSERT_TRUE(y.guards_intact());
    for (std::size_t i = 0; i + 1 < kBegin.size(); ++i) {
      Matrix alone = Matrix::result(1, cols);
      kernels().mean_rows(x.in(), cols, {kBegin.data() + i, 1}, alone.out());
      ASSERT_TRUE(same_bits(alone.row(0), y.row(i), cols));
      for (std::size_t c = 0; c < cols; ++c) {
        float sum = 0;
        for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p) sum += x(p, c);
        ASSERT_EQ(y(i, c), sum / static_cast<float>(std::max(kBegin[i + 1] - kBegin[i], 1)));
      }
    }
  }
}

TEST_P(AttentionTest, ReductionsOfRows) {
  for (const RowReduction reduction :
       {RowReduction::sum, RowReduction::max, RowReduction::log_sum_exp})
    for (const std::size_t cols : kColumnCounts) {
      Matrix x = Matrix::random(pair_count(), cols, 12, 3.0f);
      // The third segment is one row of -infinity; the last one has a NaN in the first column.
      for (std::size_t c = 0; c < cols; ++c) x(5, c) = -kInf;
      x(20, 0) = kNaN;
      Matrix y = Matrix::result(kBegin.size() - 1, cols);
      kernels().reduce_rows(reduction, x.in(), cols, all_segments(), y.out());
      ASSERT_TRUE(y.guards_intact());
      for (std::size_t i = 0; i + 1 < kBegin.size(); ++i) {
        Matrix alone = Matrix::result(1, cols);
        kernels().reduce_rows(reduction, x.in(), cols, {kBegin.data() + i, 1}, alone.out());
        ASSERT_TRUE(same_bits(alone.row(0), y.row(i), cols));
        for (std::size_t c = 0; c < cols; ++c) {
          double sum = 0, size = 0, largest = -kInf, exponentials = 0;
          for (std::int32_t p = kBegin[i]; p < kBegin[i + 1]; ++p) {
            const double number = x(p, c);
            sum += number;
            size += std::fabs(number);
            if (number > largest || std::isnan(number)) largest = number;
            exponentials += std::exp(number);
          }
          const bool is_nan = i + 2 == kBegin.size() && c == 0;
          ASSERT_EQ(std::isnan(y(i, c)), is_nan);
          if (is_nan) continue;
          if (reduction == RowReduction::max || std::isinf(largest))
            ASSERT_EQ(y(i, c), reduction == RowReduction::sum ? sum : largest);
          else if (reduction == RowReduction::sum)
            ASSERT_NEAR(y(i, c), sum, 1e-6 * size);
          else
            ASSERT_NEAR(y(i, c), std::log(exponentials), 2e-6 * (1 + std::fabs(largest)));
        }
      }
    }
}

FUSELAGE_TEST_EVERY_LEVEL(AttentionTest);

}  // namespace
}  // namespace fuselage::cpu::attention_test
