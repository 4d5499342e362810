// Fused output layers, against products and plain loops in double.

#include "backends/cuda/device/output/fused_output.h"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <vector>

#include "tests/cuda/device_array.h"
#include "tests/cuda/reference_k_best.h"

namespace fuselage::cuda::fused_output_test {
namespace {

/// Rows of x and a matrix of T, in the kernel's layout.
template <typename T>
struct Case {
  std::int32_t rows, live, depth, columns, k;
  std::int64_t stride;
  bool log_softmax = true, biased = true;
  std::vector<T> x, matrix;
  std::vector<float> bias;

  Case(std::int32_t r, std::int32_t d, std::int32_t n, std::int32_t best)
      : rows(r), live(r), depth(d), columns(n), k(best), stride((d + 15) / 16 * 16) {
    std::mt19937 random(static_cast<unsigned>(r * 1000003 + n * 101 + d));
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<T>& vectors, std::int64_t count, float scale) {
      vectors.assign(static_cast<std::size_t>(count * stride), T(0.0f));
      for (std::int64_t v = 0; v < count; ++v)
        for (std::int32_t i = 0; i < depth; ++i)
          vectors[static_cast<std::size_t>(v * stride + i)] = T(scale * normal(random));
    };
    fill(x, rows, 1);
    fill(matrix, columns, 2 / std::sqrt(static_cast<float>(depth)));
    matrix.resize(static_cast<std::size_t>((columns + 15) / 16 * 16 * stride), T(0.0f));
    bias.resize(static_cast<std::size_t>(columns));
    for (float& b : bias) b = normal(random);
  }

  std::vector<double> logits(std::int32_t r) const {
    std::vector<double> all;
    for (std::int32_t c = 0; c < columns; ++c) {
      double sum = biased ? bias[static_cast<std::size_t>(c)] : 0;
      for (std::int32_t i = 0; i < depth; ++i)
        sum += double{static_cast<float>(x[static_cast<std::size_t>(r * stride + i)])} *
               static_cast<float>(matrix[static_cast<std::size_t>(c * stride + i)]);
      all.push_back(sum);
    }
    return all;
  }
};

struct Found {
  std::vector<float> values;
  std::vector<std::int32_t> ids;
};

constexpr float kUntouched = 12345;

// Tensor cores sum less accurately than the CPU.
constexpr double kTolerance = 2e-4;

template <typename T>
Found run(const Case<T>& c, cudaStream_t stream) {
  const auto places = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.k);
  DeviceArray<T> x(c.x), columns(c.matrix);
  DeviceArray<float> bias(c.bias), values(places, kUntouched);
  DeviceArray<std::int32_t> live(1, c.live), ids(places, -7);
  const BestQuery query{.rows = {live.data(), c.rows},
                        .columns = c.columns,
                        .k = c.k,
                        .log_softmax = c.log_softmax,
                        .out = {{values.data(), c.k, nullptr}, {ids.data(), c.k, nullptr}}};
  const DeviceMatrix matrix{.data = columns.data(),
                            .dtype = std::is_same_v<T, __half> ? DType::f16 : DType::bf16,
                            .k = c.depth,
                            .n = c.columns,
                            .stride = c.stride};
  DeviceArray<std::byte> workspace(fused_output_bytes(c.rows, matrix, c.k));
  fused_output(stream, query, x.data(), matrix, c.biased ? bias.data() : nullptr,
               {workspace.data(), workspace.size()});
  expect_success(cudaStreamSynchronize(stream), "fused_output");
  return {values.to_host(), ids.to_host()};
}

/// Nearly equal sums in float may be ranked in another order.
template <typename T>
void expect_right(const Case<T>& c, cudaStream_t stream) {
  const Found found = run(c, stream);
  for (std::int32_t r = 0; r < c.rows; ++r) {
    SCOPED_TRACE(::testing::Message() << c.rows << " rows, " << c.depth << " x " << c.columns
                                      << ", best " << c.k << ", row " << r);
    const bool is_live = r < c.live;
    const std::vector<double> logits = is_live ? c.logits(r) : std::vector<double>();
    const Ranking wanted = best_of(logits, c.k, c.log_softmax);
    std::vector<double> scores = c.log_softmax ? log_softmax_of(logits) : logits;
    for (std::int32_t i = 0; i < c.k; ++i) {
      const auto at = static_cast<std::size_t>(std::int64_t{r} * c.k + i);
      const float value = found.values[at];
      const std::int32_t id = found.ids[at];
      if (!is_live) {
        ASSERT_EQ(value, kUntouched);
        ASSERT_EQ(id, -7);
        continue;
      }
      ASSERT_GE(id, 0);
      ASSERT_LT(id, c.columns);
      if (std::isinf(wanted.values[static_cast<std::size_t>(i)])) {
        ASSERT_EQ(id, wanted.ids[static_cast<std::size_t>(i)]);
        ASSERT_EQ(value, wanted.values[static_cast<std::size_t>(i)]);
        continue;
      }
      ASSERT_NEAR(value, wanted.values[static_cast<std::size_t>(i)], kTolerance);
      ASSERT_NEAR(value, scores[static_cast<std::size_t>(id)], kTolerance);
      scores[static_cast<std::size_t>(id)] = 1e9;  // Each column once.
    }
  }
}

class FusedOutputTest : public CudaTest {};

TEST_F(FusedOutputTest, EveryDepth) {
  for (const std::int32_t depth : {1, 16, 24, 100, 250, 256}) {
    expect_right(Case<__nv_bfloat16>(3, depth, 300, 5), stream());
    expect_right(Case<__half>(3, depth, 300, 5), stream());
  }
}

TEST_F(FusedOutputTest, DeepRowsTakeOtherShapes) {
  EXPECT_EQ(fused_shape(256, 9)->warps_in_columns, 1);
  EXPECT_EQ(fused_shape(512, 9)->warps_in_columns, 2);
  EXPECT_EQ(fused_shape(1024, 9)->warps_in_columns, 4);
  EXPECT_FALSE(fused_shape(4096, 9));
  expect_right(Case<__nv_bfloat16>(70, 512, 300, 4), stream());
  expect_right(Case<__nv_bfloat16>(70, 1000, 300, 4), stream());
}

TEST_F(FusedOutputTest, EveryCountAndWidth) {
  for (const std::int32_t columns : {1, 2, 31, 128, 129, 1000}) {
    for (const std::int32_t k : {1, 2, 3, 7, 12, 33, 64}) {
      if (k > columns) continue;
      for (const bool log_softmax : {true, false}) {
        Case<__nv_bfloat16> c(2, 16, columns, k);
        c.log_softmax = c.biased = log_softmax;
        expect_right(c, stream());
      }
    }
  }
  expect_right(Case<__nv_bfloat16>(2, 16, 30001, 7), stream());
}

TEST_F(FusedOutputTest, LeavesRowsBehindTheLiveOnes) {
  for (const std::int32_t live : {0, 1, 17, 127, 129, 130}) {
    Case<__nv_bfloat16> c(130, 24, 200, 3);
    c.live = live;
    expect_right(c, stream());
  }
}

TEST_F(FusedOutputTest, LowestFillUpInOrderAndTiesGoToTheLowerColumn) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool log_softmax : {true, false}) {
    Case<__nv_bfloat16> c(2, 16, 700, 12);
    c.log_softmax = log_softmax;
    std::fill(c.bias.begin(), c.bias.end(), -kInfinity);
    c.bias[650] = c.bias[3] = c.bias[299] = 1;
    expect_right(c, stream());
    std::fill(c.x.begin(), c.x.end(), __nv_bfloat16(0.0f));
    const Found found = run(c, stream());
    EXPECT_THAT(found.ids, ::testing::ElementsAre(3, 299, 650, 0, 1, 2, 4, 5, 6, 7, 8, 9,  //
                                                  3, 299, 650, 0, 1, 2, 4, 5, 6, 7, 8, 9));
  }
}

TEST_F(FusedOutputTest, WhatIsNoNumberRanksLast) {
  Case<__nv_bfloat16> c(2, 16, 700, 4);
  c.bias[100] = NAN;
  expect_right(c, stream());
  c.x[3] = __nv_bfloat16(INFINITY);
  const Found found = run(c, stream());
  EXPECT_THAT(found.ids, ::testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(found.values, ::testing::Each(-INFINITY));
}

TEST_F(FusedOutputTest, BitsDoNotDependOnOtherRows) {
  Case<__nv_bfloat16> many(4000, 16, 2000, 5);
  many.live = 300;
  const Found all = run(many, stream());
  Case<__nv_bfloat16> one(1, 16, 2000, 5);
  one.matrix = many.matrix;
  one.bias = many.bias;
  const FusedShape shape = fused_shape(16, 5).value();
  EXPECT_NE(fused_spans(shape, 4000, 2000, 5), fused_spans(shape, 1, 2000, 5));
  for (const std::int32_t r : {0, 150, 299}) {
    std::copy_n(many.x.begin() + r * many.stride, many.stride, one.x.begin());
    const Found alone = run(one, stream());
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t at = static_cast<std::size_t>(r) * 5 + i;
      EXPECT_EQ(alone.values[i], all.values[at]);
      EXPECT_EQ(alone.ids[i], all.ids[at]);
    }
  }
}

}  // namespace
}  // namespace fuselage::cuda::fused_output_test
