// The k best of logits, against plain loops in double.

#include "backends/cuda/device/output/k_best.h"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <vector>

#include "tests/cuda/device_array.h"
#include "tests/cuda/reference_k_best.h"

namespace fuselage::cuda::k_best_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Rows of logits of T, and a query.
template <typename T>
struct Case {
  std::int32_t rows = 1, live = 1, columns = 1, k = 1;
  bool log_softmax = true;
  bool biased = false;
  std::vector<T> logits;  // [rows, stride]
  std::int64_t stride = 1;
  std::vector<float> bias;

  Case(std::int32_t r, std::int32_t n, std::int32_t best, std::int64_t row_stride)
      : rows(r), live(r), columns(n), k(best), stride(row_stride) {
    std::mt19937 random(static_cast<unsigned>(r * 1000003 + n * 101 + best));
    std::normal_distribution<float> normal(0, 3);
    logits.resize(static_cast<std::size_t>(rows * stride));
    for (T& logit : logits) logit = T(normal(random));
    bias.resize(static_cast<std::size_t>(columns));
    for (float& b : bias) b = normal(random);
  }

  T& at(std::int32_t r, std::int32_t c) { return logits[static_cast<std::size_t>(r * stride + c)]; }

  std::vector<double> row(std::int32_t r) const {
    std::vector<double> values;
    for (std::int32_t c = 0; c < columns; ++c) {
      float logit = static_cast<float>(logits[static_cast<std::size_t>(r * stride + c)]);
      if (biased) logit += bias[static_cast<std::size_t>(c)];
      values.push_back(logit);
    }
    return values;
  }
};

struct Found {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

constexpr float kUntouched = 12345;

template <typename T>
Found run(const Case<T>& c, cudaStream_t stream) {
  const auto places = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.k);
  DeviceArray<T> logits(c.logits);
  DeviceArray<float> bias(c.bias), values(places, kUntouched);
  DeviceArray<std::int32_t> live(1, c.live), ids(places, -7);
  const BestQuery query{.rows = {live.data(), c.rows},
                        .columns = c.columns,
                        .k = c.k,
                        .log_softmax = c.log_softmax,
                        .out = {{values.data(), c.k, nullptr}, {ids.data(), c.k, nullptr}}};
  DeviceArray<std::byte> workspace(best_of_rows_bytes(c.rows, c.columns, c.k, 1));
  const Logits<T> member{
      .stored = {.data = logits.data(), .stride = c.stride, .columns = c.columns},
      .bias = c.biased ? bias.data() : nullptr};
  best_of_rows<T>(stream, query, std::array{member}, {workspace.data(), workspace.size()});
  expect_success(cudaStreamSynchronize(stream), "best_of_rows");
  return {values.to_host(), ids.to_host()};
}

template <typename T>
void expect_right(const Case<T>& c, cudaStream_t stream) {
  const Found found = run(c, stream);
  for (std::int32_t r = 0; r < c.rows; ++r) {
    const Ranking wanted = r < c.live ? best_of(c.row(r), c.k, c.log_softmax) : Ranking();
    for (std::int32_t i = 0; i < c.k; ++i) {
      const auto at = static_cast<std::size_t>(std::int64_t{r} * c.k + i);
      const auto rank = static_cast<std::size_t>(i);
      SCOPED_TRACE(::testing::Message() << "rows " << c.rows << " columns " << c.columns << " k "
                                        << c.k << " row " << r << " rank " << i);
      if (r >= c.live) {
        ASSERT_EQ(found.values[at], kUntouched);
        ASSERT_EQ(found.ids[at], -7);
        continue;
      }
      ASSERT_EQ(found.ids[at], wanted.ids[rank]);
      if (std::isinf(wanted.values[rank]))
        ASSERT_EQ(found.values[at], static_cast<float>(wanted.values[rank]));
      else
        ASSERT_NEAR(found.values[at], wanted.values[rank], 2e-5);
    }
  }
}

class KBestTest : public CudaTest {};

TEST_F(KBestTest, EveryCountAndWidth) {
  for (const std::int32_t n : {1, 2, 31, 64, 1000, 1024, 3001}) {
    for (const std::int32_t k : {1, 2, 3, 7, 12, 32, 33, 64}) {
      if (k > n) continue;
      for (const bool log_softmax : {true, false}) {
        Case<float> c(3, n, k, n);
        c.log_softmax = log_softmax;
        expect_right(c, stream());
      }
    }
  }
}

TEST_F(KBestTest, Vocabulary) {
  for (const std::int32_t k : {1, 7, 64}) expect_right(Case<float>(1, 30001, k, 30001), stream());
}

TEST_F(KBestTest, EveryTypeAlignedOrNot) {
  for (const std::int32_t n : {1000, 2048, 5003}) {
    for (const std::int64_t more : {0, 5, 8}) {
      for (const bool biased : {false, true}) {
        const auto check = [&](auto c) {
          c.biased = biased;
          expect_right(c, stream());
        };
        check(Case<float>(3, n, 5, (n + 7) / 8 * 8 + more));
        check(Case<__nv_bfloat16>(3, n, 5, (n + 7) / 8 * 8 + more));
        check(Case<__half>(3, n, 5, (n + 7) / 8 * 8 + more));
      }
    }
  }
}

TEST_F(KBestTest, LeavesRowsBehindTheLiveOnes) {
  for (const std::int32_t live : {0, 1, 17, 129, 130}) {
    Case<float> c(130, 1100, 3, 1104);
    c.live = live;
    expect_right(c, stream());
  }
}

TEST_F(KBestTest, TiesGoToTheLowerColumn) {
  for (const std::int32_t k : {1, 9, 64}) {
    Case<float> c(2, 9000, k, 9000);
    std::mt19937 random(7);
    for (float& logit : c.logits) logit = static_cast<float>(random() % 5);
    c.log_softmax = k != 9;
    expect_right(c, stream());
    c.biased = true;
    std::fill(c.bias.begin(), c.bias.end(), -0.0f);
    for (float& logit : c.logits) logit = random() % 2 == 0 ? 0.0f : -0.0f;
    expect_right(c, stream());
  }
}

TEST_F(KBestTest, LowestFillUpInOrder) {
  for (const bool log_softmax : {true, false}) {
    for (const std::int32_t k : {3, 40}) {
      Case<float> c(4, 5000, k, 5000);
      c.log_softmax = log_softmax;
      for (std::int32_t i = 0; i < c.columns; ++i) {
        c.at(0, i) = i == 4100 || i == 77 ? 2.5f - static_cast<float>(i) : -kInfinity;
        c.at(1, i) = -kInfinity;
        c.at(2, i) = i % 3 == 0 ? -kInfinity : c.at(2, i);
        // A chunk of -infinity beside a chunk of large negative logits.
        c.at(3, i) = i < 2000 ? -kInfinity : -1000.0f - static_cast<float>(i % 7);
      }
      expect_right(c, stream());
    }
  }
}

TEST_F(KBestTest, WhatIsNoNumberRanksLast) {
  for (const bool log_softmax : {true, false}) {
    Case<float> c(4, 3000, 12, 3000);
    c.log_softmax = log_softmax;
    c.at(0, 1234) = NAN;
    for (std::int32_t i = 0; i < c.columns; ++i) c.at(1, i) = NAN;
    c.at(2, 55) = kInfinity;
    for (std::int32_t i = 5; i < c.columns; ++i) c.at(3, i) = i % 2 == 0 ? NAN : -kInfinity;
    expect_right(c, stream());
  }
}

TEST_F(KBestTest, MemoryForSomeRowsIsEnoughForFewer) {
  for (const std::int32_t columns : {1, 30001, 300000})
    for (const std::int64_t rows : {1, 264, 265, 527, 600})
      for (std::int64_t fewer = 1; fewer <= rows; ++fewer) {
        const std::int32_t shards = best_shards(fewer, best_chunks(columns));
        const std::size_t wanted = best_normalizers_bytes(fewer, best_chunks(columns), 1) +
                                   static_cast<std::size_t>(fewer * shards * 64) * sizeof(Ranked);
        ASSERT_LE(wanted, best_of_rows_bytes(rows, columns, 64, 1)) << fewer << " of " << rows;
      }
}

TEST_F(KBestTest, HugeLogits) {
  Case<float> c(3, 2500, 4, 2500);
  for (std::int32_t i = 0; i < c.columns; ++i) {
    c.at(0, i) = i % 100 == 3 ? 3e38f : -3e38f;
    c.at(1, i) = -3e38f;
    c.at(2, i) = 1e6f + static_cast<float>(i % 16);
  }
  expect_right(c, stream());
}

TEST_F(KBestTest, BitsDoNotDependOnOtherRows) {
  Case<float> many(300, 60001, 5, 60008);
  many.live = 20;
  EXPECT_NE(best_shards(300, best_chunks(60001)), best_shards(1, best_chunks(60001)));
  const Found all = run(many, stream());
  Case<float> one(1, 60001, 5, 60008);
  for (const std::int32_t r : {0, 11, 19}) {
    std::copy_n(many.logits.begin() + r * many.stride, many.stride, one.logits.begin());
    const Found alone = run(one, stream());
    for (std::int32_t i = 0; i < one.k; ++i) {
      const auto at = static_cast<std::size_t>(std::int64_t{r} * many.k + i);
      EXPECT_EQ(alone.values[static_cast<std::size_t>(i)], all.values[at]);
      EXPECT_EQ(alone.ids[static_cast<std::size_t>(i)], all.ids[at]);
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda::k_best_test
