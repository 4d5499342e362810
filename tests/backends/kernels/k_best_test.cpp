#include <algorithm>
#include <numeric>

#include "tests/backends/kernels/support.h"

namespace fuselage::cpu::k_best_test {
namespace {

class KBestTest : public KernelTest {};

struct Ranked {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

Ranked reference(const float* x, std::size_t cols, std::size_t k) {
  std::vector<float> clean(x, x + cols);
  for (float& v : clean)
    if (std::isnan(v)) v = -kInf;
  std::vector<std::int32_t> ids(cols);
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::int32_t a, std::int32_t b) { return clean[a] > clean[b]; });
  ids.resize(k, -1);
  Ranked ranked{{}, ids};
  for (const std::int32_t id : ids) ranked.values.push_back(id < 0 ? -kInf : clean[id]);
  return ranked;
}

void expect_ranked(const Matrix& x, std::size_t k) {
  constexpr std::int32_t kGuardId = 123456;
  const std::size_t rows = x.rows();
  std::vector<float> values(rows * k + 8, Matrix::kGuard);
  std::vector<std::int32_t> ids(rows * k + 8, kGuardId);
  kernels().k_best(x.in(), rows, x.cols(), k, values.data(), ids.data());
  for (std::size_t r = 0; r < rows; ++r) {
    const Ranked want = reference(x.row(r), x.cols(), k);
    for (std::size_t i = 0; i < k; ++i) {
      ASSERT_EQ(ids[r * k + i], want.ids[i]) << "cols " << x.cols() << " k " << k << " rank " << i;
      ASSERT_EQ(values[r * k + i], want.values[i]);
    }
  }
  EXPECT_EQ(values[rows * k], Matrix::kGuard);
  EXPECT_EQ(ids[rows * k], kGuardId);
}

TEST_P(KBestTest, RandomRows) {
  for (const std::size_t cols : kColumnCounts)
    for (const std::size_t k : {1, 2, 5, 12, 64})
      for (const std::size_t rows : {1, 3, 13}) expect_ranked(Matrix::random(rows, cols, 1), k);
}

TEST_P(KBestTest, Ties) {
  for (const std::size_t cols : kColumnCounts)
    for (const std::size_t k : {1, 3, 12}) {
      Matrix x = Matrix::random(2, cols, 2);
      for (std::size_t c = 0; c < cols; ++c) {
        x(0, c) = std::round(x(0, c));
        x(1, c) = 1.0f;
      }
      expect_ranked(x, k);
    }
}

TEST_P(KBestTest, NaNAndInfinity) {
  for (const std::size_t cols : kColumnCounts)
    for (const std::size_t k : {1, 4, 12}) {
      Matrix x = Matrix::random(4, cols, 3);
      for (std::size_t c = 0; c < cols; ++c) {
        if (c % 2 == 0) x(0, c) = kNaN;
        x(1, c) = c % 3 == 0 ? kNaN : -kInf;
        x(2, c) = c % 5 == 0 ? kInf : c % 5 == 1 ? kNaN : x(2, c);
        x(3, c) = c + 2 < cols ? -kInf : x(3, c);
      }
      expect_ranked(x, k);
    }
}

TEST_P(KBestTest, SortedAndVocabularySizedRows) {
  const std::size_t cols = 32003;
  Matrix x = Matrix::random(3, cols, 4);
  for (std::size_t c = 0; c < cols; ++c) {
    x(1, c) = static_cast<float>(c);
    x(2, c) = -static_cast<float>(c);
  }
  for (const std::size_t k : {1, 6, 64}) expect_ranked(x, k);
}

TEST_P(KBestTest, ReadsRowsThroughAnIndex) {
  const Matrix x = Matrix::random(3, 50, 5), fallback = Matrix::random(1, 50, 6);
  const std::vector<std::int32_t> index = {2, -1};
  std::vector<float> values(8);
  std::vector<std::int32_t> ids(8);
  kernels().k_best(x.in(index, fallback.row(0)), 2, 50, 4, values.data(), ids.data());
  const Ranked first = reference(x.row(2), 50, 4), second = reference(fallback.row(0), 50, 4);
  EXPECT_TRUE(std::equal(first.ids.begin(), first.ids.end(), ids.begin()));
  EXPECT_TRUE(std::equal(second.ids.begin(), second.ids.end(), ids.begin() + 4));
}

FUSELAGE_TEST_EVERY_LEVEL(KBestTest);

}  // namespace
}  // namespace fuselage::cpu::k_best_test
