// The output layer for Hopper, against products and plain loops in double.

#include "backends/cuda/device/output/hopper_output.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/cuda/device_array.h"
#include "tests/cuda/output_case.h"

namespace fuselage::cuda::hopper_output_test {
namespace {

constexpr OutputWay kHopper{hopper_output_bytes, hopper_output};

using Bf16 = OutputCase<__nv_bfloat16>;
using F16 = OutputCase<__half>;

class HopperOutputTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && !has_hopper_output()) GTEST_SKIP() << "not a GPU of sm_90";
  }

  template <typename T>
  void check(const OutputCase<T>& c) {
    expect_right(c, kHopper, stream());
  }
};

TEST_F(HopperOutputTest, EveryDepth) {
  for (const std::int32_t depth : {1, 16, 24, 63, 64, 65, 128, 250}) {
    check(Bf16(3, depth, 300, 5));
    check(F16(3, depth, 300, 5));
  }
}

TEST_F(HopperOutputTest, RowsAndListsDecideTheShape) {
  EXPECT_EQ(hopper_shape(64, 512, 9)->row_tiles, 1);
  EXPECT_EQ(hopper_shape(65, 512, 9)->row_tiles, 2);
  EXPECT_EQ(hopper_shape(65, 512, 9)->stages, 4);
  EXPECT_EQ(hopper_shape(65, 512, 64)->row_tiles, 1);
  EXPECT_EQ(hopper_shape(65, 1024, 9)->row_tiles, 1);
  EXPECT_FALSE(hopper_shape(1, 1536, 1));
  check(Bf16(70, 500, 300, 4));
  check(Bf16(70, 300, 300, 40));
  check(Bf16(66, 1000, 200, 4));
}

TEST_F(HopperOutputTest, EveryCountAndWidth) {
  for (const std::int32_t columns : {1, 2, 31, 128, 129, 1000}) {
    for (const std::int32_t k : {1, 2, 3, 7, 12, 33, 64}) {
      if (k > columns) continue;
      for (const bool log_softmax : {true, false}) {
        Bf16 c(2, 16, columns, k);
        c.log_softmax = c.biased = log_softmax;
        check(c);
      }
    }
  }
  check(Bf16(2, 16, 30001, 7));
}

// Tiles beyond the stages of the pipeline, for both groups.
TEST_F(HopperOutputTest, StagesAreUsedAgain) {
  check(Bf16(130, 190, 3000, 3));
  check(F16(17, 400, 2000, 2));
}

TEST_F(HopperOutputTest, LeavesRowsBehindTheLiveOnes) {
  for (const std::int32_t live : {0, 1, 17, 63, 65, 127, 129, 130}) {
    Bf16 c(130, 24, 200, 3);
    c.live = live;
    check(c);
  }
}

TEST_F(HopperOutputTest, LowestFillUpInOrderAndTiesGoToTheLowerColumn) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool log_softmax : {true, false}) {
    Bf16 c(2, 16, 700, 12);
    c.log_softmax = log_softmax;
    std::fill(c.bias.begin(), c.bias.end(), -kInfinity);
    c.bias[650] = c.bias[3] = c.bias[299] = 1;
    check(c);
    std::fill(c.x.begin(), c.x.end(), __nv_bfloat16(0.0f));
    const Found found = run(c, kHopper, stream());
    EXPECT_THAT(found.ids, ::testing::ElementsAre(3, 299, 650, 0, 1, 2, 4, 5, 6, 7, 8, 9,  //
                                                  3, 299, 650, 0, 1, 2, 4, 5, 6, 7, 8, 9));
  }
}

// Each tile has entries for a full list, in ascending and in descending order of tiles.
TEST_F(HopperOutputTest, ListsChangeInEveryTile) {
  for (const float slope : {0.01f, -0.01f}) {
    Bf16 c(3, 16, 1500, 9);
    for (std::size_t i = 0; i < c.bias.size(); ++i) c.bias[i] = slope * static_cast<float>(i);
    std::fill(c.x.begin(), c.x.end(), __nv_bfloat16(0.0f));
    check(c);
  }
}

TEST_F(HopperOutputTest, WhatIsNoNumberRanksLast) {
  Bf16 c(2, 16, 700, 4);
  c.bias[100] = NAN;
  check(c);
  c.x[3] = __nv_bfloat16(INFINITY);
  const Found found = run(c, kHopper, stream());
  EXPECT_THAT(found.ids, ::testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_THAT(found.values, ::testing::Each(-INFINITY));
}

TEST_F(HopperOutputTest, BitsDoNotDependOnOtherRows) {
  Bf16 many(1000, 16, 2000, 5);
  many.live = 300;
  const Found all = run(many, kHopper, stream());
  Bf16 one(1, 16, 2000, 5);
  one.matrix = many.matrix;
  one.bias = many.bias;
  for (const std::int32_t r : {0, 150, 299}) {
    std::copy_n(many.x.begin() + r * many.stride, many.stride, one.x.begin());
    const Found alone = run(one, kHopper, stream());
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t at = static_cast<std::size_t>(r) * 5 + i;
      EXPECT_EQ(alone.values[i], all.values[at]);
      EXPECT_EQ(alone.ids[i], all.ids[at]);
    }
  }
}

// A GPU of 132 multiprocessors, 1,280 rows: 10 blocks of rows, each by 13 blocks of columns.
TEST(HopperPlan, FillsTheDevice) {
  const HopperShape shape = hopper_shape(1280, 512, 1).value();
  EXPECT_EQ(shape.stages, 5);
  EXPECT_EQ(hopper_plan(shape, 1280, 30000, 1, 132).spans, 13);
  EXPECT_EQ(hopper_plan(hopper_shape(64, 512, 1).value(), 64, 58101, 1, 132).spans, 114);
}

}  // namespace
}  // namespace fuselage::cuda::hopper_output_test
