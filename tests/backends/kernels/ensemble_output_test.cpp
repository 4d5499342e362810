#include <gmock/gmock.h>

#include <algorithm>

#include "tests/backends/kernels/output_support.h"

namespace fuselage::cpu::ensemble_output_test {
namespace {

using ::testing::Each;

class EnsembleOutputTest : public KernelTest {};

/// Output layers of several widths, with and without bias, and rows for each.
class Ensemble {
 public:
  Ensemble(std::size_t members, std::size_t n, std::size_t rows, unsigned seed)
      : columns_(n), rows_(rows) {
    constexpr std::size_t kWidthsOfMembers[] = {9, 4, 17, 1};
    constexpr float kWeightsOfMembers[] = {1, 0.3f, 2, 0.125f};
    for (std::size_t m = 0; m < members; ++m) {
      const std::size_t d = kWidthsOfMembers[m % 4];
      layers.emplace_back(d, n, m % 2 == 0, seed + static_cast<unsigned>(10 * m));
      x.push_back(Matrix::random(rows, d, seed + static_cast<unsigned>(m)));
      weights.push_back(kWeightsOfMembers[m % 4]);
    }
  }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }

  std::vector<WeightedLayer> members() const {
    std::vector<WeightedLayer> members;
    for (std::size_t m = 0; m < layers.size(); ++m)
      members.push_back({x[m].in(), &layers[m].packed, layers[m].bias_row(), weights[m]});
    return members;
  }

  std::vector<Layer> layers;
  std::vector<Matrix> x;
  std::vector<float> weights;

 private:
  std::size_t columns_, rows_;
};

Ranked fused(const std::vector<WeightedLayer>& members, std::size_t rows, std::size_t k) {
  Ranked best(rows, k);
  kernels().ensemble_k_best(members, rows, k, best.values.data(), best.ids.data());
  EXPECT_TRUE(best.guards_intact(rows * k));
  return best;
}

/// The weighted sum of what a function makes of each member's logits, by the separate kernels.
template <class F>
Matrix weighted_sum(const Ensemble& ensemble, const std::vector<WeightedLayer>& members,
                    std::size_t rows, const F& f) {
  const std::size_t n = ensemble.columns();
  Matrix sum(rows, n);
  for (std::size_t m = 0; m < members.size(); ++m) {
    Matrix own = ensemble.layers[m].logits(members[m].a, rows);
    f(own);
    kernels().binary(Binary::mul, own.in(), {&members[m].weight, 0, nullptr, nullptr, 1}, rows, n,
                     m == 0 ? sum.out() : own.out());
    if (m > 0) kernels().binary(Binary::add, sum.in(), own.in(), rows, n, sum.out());
  }
  return sum;
}

/// What is subtracted from a row's weighted sums of logits: those of the largest, in the order of
/// the op's definition, and those of the logarithms, for which doubles are used.
struct Normalizer {
  float tops = 0;
  double logs = 0;

  void add(float weight, const float* logits, std::size_t n) {
    float top = -kInf;
    for (std::size_t c = 0; c < n; ++c) top = logits[c] > top ? logits[c] : top;
    double sum = 0;
    for (std::size_t c = 0; c < n; ++c)
      sum += std::exp(static_cast<double>(logits[c]) - static_cast<double>(top));
    tops += weight * top;
    logs += static_cast<double>(weight) * std::log(sum);
  }
};

/// The fused kernel gives what the op is defined as.
void expect_same(const Ensemble& ensemble, const std::vector<WeightedLayer>& members,
                 std::size_t rows, std::size_t k) {
  const std::size_t n = ensemble.columns();
  SCOPED_TRACE(::testing::Message()
               << members.size() << " members, " << rows << " rows, " << n << " columns, k " << k);
  std::vector<Normalizer> normalizers(rows);
  std::size_t m = 0;
  const Matrix logits = weighted_sum(ensemble, members, rows, [&](const Matrix& own) {
    for (std::size_t r = 0; r < rows; ++r) normalizers[r].add(members[m].weight, own.row(r), n);
    ++m;
  });
  const Ranked best = k_best_of(logits, k);
  const Ranked got = fused(members, rows, k);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto [tops, logs] = normalizers[r];
    const bool none = !std::isfinite(tops + static_cast<float>(logs));
    for (std::size_t i = 0; i < k; ++i) {
      const std::size_t at = r * k + i;
      const auto first = i < n ? static_cast<std::int32_t>(i) : -1;
      ASSERT_EQ(got.ids[at], none ? first : best.ids[at]) << "row " << r << " place " << i;
      const float value = none ? -kInf : best.values[at] - tops;
      if (std::isfinite(value)) {
        const double score = value - logs;
        ASSERT_NEAR(got.values[at], score, 2e-6 * std::max(1.0, std::fabs(score)));
      } else {
        ASSERT_EQ(got.values[at], value);
      }
    }
  }
}

void expect_same(const Ensemble& ensemble, std::size_t k) {
  expect_same(ensemble, ensemble.members(), ensemble.rows(), k);
}

TEST_P(EnsembleOutputTest, MatchesSeparateKernels) {
  for (const std::size_t n : kColumnCounts)
    for (const std::size_t members : {1, 2, 3, 4})
      for (const std::size_t rows : {1, 2, 3, 4, 6, 7, 13}) {
        const Ensemble ensemble(members, n, rows, 1);
        for (const std::size_t k : {1, 7, 64}) expect_same(ensemble, k);
      }
}

TEST_P(EnsembleOutputTest, VocabularySizedRows) {
  for (const std::size_t rows : {1, 5, 97}) {
    const Ensemble ensemble(2, 32003, rows, 2);
    for (const std::size_t k : {1, 7, 64}) expect_same(ensemble, k);
  }
}

TEST_P(EnsembleOutputTest, ManyMembers) {
  for (const std::size_t members : {5, 11, 32})
    for (const std::size_t rows : {1, 30, 100}) expect_same(Ensemble(members, 333, rows, 3), 5);
}

// That is what the models alone give, each in its way, and their sum.
TEST_P(EnsembleOutputTest, ScoresAreSumsOfLogProbabilities) {
  const Ensemble ensemble(4, 1234, 13, 4);
  const auto members = ensemble.members();
  const Matrix sums = weighted_sum(ensemble, members, 13, [](Matrix& own) {
    kernels().log_softmax(own.in(), own.rows(), own.cols(), own.out());
  });
  const Ranked want = k_best_of(sums, 9);
  const Ranked got = fused(members, 13, 9);
  EXPECT_EQ(got.ids, want.ids);
  for (std::size_t i = 0; i < 13 * 9; ++i) EXPECT_NEAR(got.values[i], want.values[i], 2e-5);
}

TEST_P(EnsembleOutputTest, OneMemberIsTheOutputLayer) {
  const Ensemble ensemble(1, 2049, 8, 5);
  Ranked want(8, 6);
  kernels().linear_k_best(ensemble.x[0].in(), 8, ensemble.layers[0].packed,
                          ensemble.layers[0].bias_row(), true, 6, want.values.data(),
                          want.ids.data(), nullptr);
  const Ranked got = fused(ensemble.members(), 8, 6);
  EXPECT_EQ(got.ids, want.ids);
  EXPECT_TRUE(same_bits(got.values.data(), want.values.data(), want.values.size()));
}

TEST_P(EnsembleOutputTest, RowsAloneGiveTheSameBits) {
  for (const std::size_t n : {5, 64, 333, 2500})
    for (const std::size_t count : {2, 9})
      for (const std::size_t rows : {2, 3, 5, 6, 8, 25, 100}) {
        const Ensemble ensemble(count, n, rows, 6);
        const Ranked together = fused(ensemble.members(), rows, 5);
        for (std::size_t r = 0; r < rows; ++r) {
          auto members = ensemble.members();
          for (std::size_t m = 0; m < count; ++m) members[m].a = ensemble.x[m].alone(r);
          const Ranked alone = fused(members, 1, 5);
          ASSERT_TRUE(same_bits(alone.values.data(), together.values.data() + r * 5, 5));
          ASSERT_TRUE(std::equal(alone.ids.begin(), alone.ids.begin() + 5,
                                 together.ids.begin() + static_cast<std::ptrdiff_t>(r * 5)));
        }
      }
}

TEST_P(EnsembleOutputTest, TiesGoToTheLowerColumn) {
  Ensemble ensemble(2, 300, 4, 7);
  for (std::size_t m = 0; m < 2; ++m) {
    const std::size_t d = ensemble.layers[m].w.rows();
    ensemble.layers[m] = Layer(Matrix(d, 300), false, 0);
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t i = 0; i < d; ++i) ensemble.x[m](r, i) = static_cast<float>((r + i) % 3);
  }
  for (const std::size_t k : {1, 7, 64}) expect_same(ensemble, k);
}

TEST_P(EnsembleOutputTest, MaskedColumns) {
  for (const std::size_t n : {7, 64, 100, 257})
    for (const std::size_t left : {0, 1, 3})
      for (const std::size_t masking : {0, 2}) {
        Ensemble ensemble(3, n, 7, 8);
        for (std::size_t j = 0; j + left < n; ++j) (*ensemble.layers[masking].bias)(0, j) = -kInf;
        for (const std::size_t k : {1, 4, 70}) expect_same(ensemble, k);
      }
}

TEST_P(EnsembleOutputTest, EachMemberMasksOtherColumns) {
  Ensemble ensemble(3, 130, 5, 9);
  for (std::size_t j = 0; j < 130; ++j)
    (*ensemble.layers[j % 5 < 2 ? 0 : 2].bias)(0, j) = j % 31 == 0 ? 0.5f : -kInf;
  for (const std::size_t k : {1, 4, 70}) expect_same(ensemble, k);
}

TEST_P(EnsembleOutputTest, NaNAndInfinity) {
  for (const std::size_t n : {5, 64, 130})
    for (const std::size_t spoiled : {0, 1, 2}) {
      Ensemble ensemble(3, n, 8, 10);
      Matrix& x = ensemble.x[spoiled];
      x(1, 0) = kNaN;
      x(3, 1) = kInf;
      x(4, 2) = -kInf;
      x(6, 3) = 1e38f;
      for (const std::size_t k : {1, 4}) expect_same(ensemble, k);
      for (const float special : {kNaN, kInf})
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
          Ensemble other(3, n, 3, 11);
          (*other.layers[spoiled == 1 ? 0 : spoiled].bias)(0, at) = special;
          expect_same(other, 4);
        }
    }
}

// Logits far below zero or far apart neither vanish nor overflow.
TEST_P(EnsembleOutputTest, LargeLogits) {
  for (const float offset : {-1e4f, -300.0f, 300.0f, 1e4f}) {
    Ensemble ensemble(3, 500, 5, 12);
    for (std::size_t j = 0; j < 500; ++j) (*ensemble.layers[0].bias)(0, j) += offset;
    expect_same(ensemble, 7);
    for (std::size_t j = 0; j < 500; ++j) (*ensemble.layers[2].bias)(0, j) -= 3 * offset;
    expect_same(ensemble, 7);
    for (Matrix& x : ensemble.x)
      for (std::size_t r = 0; r < 5; ++r)
        for (std::size_t c = 0; c < x.cols(); ++c) x(r, c) *= 100;
    expect_same(ensemble, 7);
  }
}

TEST_P(EnsembleOutputTest, AWeightOfZero) {
  Ensemble ensemble(2, 70, 3, 13);
  ensemble.weights = {0, 1};
  expect_same(ensemble, 7);
  // 0 times -infinity is NaN, and no better than -infinity.
  (*ensemble.layers[0].bias)(0, 3) = -kInf;
  expect_same(ensemble, 70);
}

TEST_P(EnsembleOutputTest, MembersMayShareWhatTheyRead) {
  const Ensemble ensemble(2, 100, 7, 14);
  auto members = ensemble.members();
  members[1] = members[0];
  members[0].weight = members[1].weight = 0.5f;
  const Ranked twice = fused(members, 7, 3);
  const Ranked once = fused({ensemble.members()[0]}, 7, 3);
  EXPECT_EQ(twice.ids, once.ids);
  EXPECT_TRUE(same_bits(twice.values.data(), once.values.data(), 7 * 3));
}

TEST_P(EnsembleOutputTest, ReadsRowsThroughAnIndex) {
  const Ensemble ensemble(3, 70, 5, 15);
  const Matrix fallback = Matrix::random(1, 4, 16), same = Matrix::random(1, 17, 17);
  std::vector<std::int32_t> index;
  std::vector<std::int32_t> backwards;
  for (std::int32_t i = 0; i < 110; ++i) {
    index.push_back(i % 6 - 1);
    backwards.push_back(4 - i % 5);
  }
  auto members = ensemble.members();
  members[0].a = ensemble.x[0].in(backwards, nullptr);
  members[1].a = ensemble.x[1].in(index, fallback.row(0));
  members[2].a = {same.row(0), 0, nullptr, nullptr, 17};
  expect_same(ensemble, members, index.size(), 3);
}

TEST_P(EnsembleOutputTest, NoRowsAndNoPlaces) {
  const Ensemble ensemble(2, 70, 1, 18);
  std::vector<float> values(3, 0.5f);
  std::vector<std::int32_t> ids(3, 77);
  kernels().ensemble_k_best(ensemble.members(), 0, 3, values.data(), ids.data());
  kernels().ensemble_k_best(ensemble.members(), 1, 0, values.data(), ids.data());
  EXPECT_THAT(values, Each(0.5f));
  EXPECT_THAT(ids, Each(77));
}

FUSELAGE_TEST_EVERY_LEVEL(EnsembleOutputTest);

}  // namespace
}  // namespace fuselage::cpu::ensemble_output_test
