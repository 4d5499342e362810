// Fused output layers, against products and plain loops in double.

#include "backends/cuda/device/output/fused_output.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/cuda/device_array.h"
#include "tests/cuda/output_case.h"

namespace fuselage::cuda::fused_output_test {
namespace {

constexpr OutputWay kFused{fused_output_bytes, fused_output};

template <typename T>
Found run(const OutputCase<T>& c, cudaStream_t stream) {
  return run(c, kFused, stream);
}
template <typename T>
void expect_right(const OutputCase<T>& c, cudaStream_t stream) {
  expect_right(c, kFused, stream);
}

class FusedOutputTest : public CudaTest {};

TEST_F(FusedOutputTest, EveryDepth) {
  for (const std::int32_t depth : {1, 16, 24, 100, 250, 256}) {
    expect_right(OutputCase<__nv_bfloat16>(3, depth, 300, 5), stream());
    expect_right(OutputCase<__half>(3, depth, 300, 5), stream());
  }
}

TEST_F(FusedOutputTest, DeepRowsTakeOtherShapes) {
  EXPECT_EQ(fused_shape(256, 9)->warps_in_columns, 1);
  EXPECT_EQ(fused_shape(512, 9)->warps_in_columns, 2);
  EXPECT_EQ(fused_shape(1024, 9)->warps_in_columns, 4);
  EXPECT_FALSE(fused_shape(4096, 9));
  expect_right(OutputCase<__nv_bfloat16>(70, 512, 300, 4), stream());
  expect_right(OutputCase<__nv_bfloat16>(70, 1000, 300, 4), stream());
}

TEST_F(FusedOutputTest, EveryCountAndWidth) {
  for (const std::int32_t columns : {1, 2, 31, 128, 129, 1000}) {
    for (const std::int32_t k : {1, 2, 3, 7, 12, 33, 64}) {
      if (k > columns) continue;
      for (const bool log_softmax : {true, false}) {
        OutputCase<__nv_bfloat16> c(2, 16, columns, k);
        c.log_softmax = c.biased = log_softmax;
        expect_right(c, stream());
      }
    }
  }
  expect_right(OutputCase<__nv_bfloat16>(2, 16, 30001, 7), stream());
}

TEST_F(FusedOutputTest, LeavesRowsBehindTheLiveOnes) {
  for (const std::int32_t live : {0, 1, 17, 127, 129, 130}) {
    OutputCase<__nv_bfloat16> c(130, 24, 200, 3);
    c.live = live;
    expect_right(c, stream());
  }
}

TEST_F(FusedOutputTest, LowestFillUpInOrderAndTiesGoToTheLowerColumn) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool log_softmax : {true, false}) {
    OutputCase<__nv_bfloat16> c(2, 16, 700, 12);
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
  OutputCase<__nv_bfloat16> c(2, 16, 700, 4);
  c.bias[100] = NAN;
  expect_right(c, stream());
  c.x[3] = __nv_bfloat16(INFINITY);
  const Found found = run(c, stream());
  EXPECT_THAT(found.ids, ::testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(found.values, ::testing::Each(-INFINITY));
}

TEST_F(FusedOutputTest, BitsDoNotDependOnOtherRows) {
  OutputCase<__nv_bfloat16> many(4000, 16, 2000, 5);
  many.live = 300;
  const Found all = run(many, stream());
  OutputCase<__nv_bfloat16> one(1, 16, 2000, 5);
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
