#include "backends/cuda/device/output/output_cost.h"

#include <gtest/gtest.h>

namespace fuselage::cuda::output_cost_test {
namespace {

// Ratios that cuda_output_bench printed on an H200, 30,000 columns and 1,280 rows for each k.
TEST(OutputCost, IsInTheRatiosThatWereMeasured) {
  struct Measured {
    std::int64_t depth;
    std::int32_t k;
    double ratio;
  };
  for (const Measured& m : {Measured{256, 1, 0.90},
                            {256, 3, 0.86},
                            {256, 9, 0.69},
                            {512, 1, 0.55},
                            {512, 3, 0.55},
                            {512, 9, 0.50}}) {
    const OutputSize size{std::int64_t{1280} * m.k, m.depth, 30000, m.k};
    const double ratio = seconds_of(OutputWay::logits, size) / seconds_of(OutputWay::fused, size);
    EXPECT_NEAR(ratio, m.ratio, 0.2 * m.ratio) << m.depth << " numbers, best " << m.k;
    EXPECT_EQ(fastest_output(size, UnmeasuredUse::never), OutputWay::logits);
  }
}

// 63 us for the product and its ranking were measured by ncu.
TEST(OutputCost, IsThatOfTheWeightsForFewRows) {
  const OutputSize size{64, 512, 58101, 1};
  EXPECT_NEAR(seconds_of(OutputWay::fused, size), 63e-6, 10e-6);
  EXPECT_LT(seconds_of(OutputWay::logits, size), 40e-6);
  EXPECT_EQ(fastest_output({1, 512, 58101, 1}, UnmeasuredUse::if_faster), OutputWay::logits);
}

TEST(OutputCost, RowsThatAreTooLongHaveLogits) {
  EXPECT_EQ(fastest_output({1280, 8192, 30000, 4}, UnmeasuredUse::always), OutputWay::logits);
}

// The aim that the kernel for Hopper was written for, in case its counts hold.
TEST(OutputCost, ChoosesTheKernelForHopperOnlyIfItIsTried) {
  const OutputSize size{1280, 512, 30000, 1};
  EXPECT_FALSE(is_measured(OutputWay::hopper));
  EXPECT_EQ(fastest_output(size, UnmeasuredUse::never), OutputWay::logits);
  EXPECT_EQ(fastest_output(size, UnmeasuredUse::if_faster), OutputWay::hopper);
  EXPECT_EQ(fastest_output({1, 21, 501, 6}, UnmeasuredUse::always), OutputWay::hopper);
  EXPECT_GT(seconds_of(OutputWay::logits, size) / seconds_of(OutputWay::hopper, size), 1.15);
}

}  // namespace
}  // namespace fuselage::cuda::output_cost_test
