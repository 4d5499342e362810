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
    const double ratio = seconds_with_logits(size) / seconds_without_logits(size);
    EXPECT_NEAR(ratio, m.ratio, 0.2 * m.ratio) << m.depth << " numbers, best " << m.k;
    EXPECT_FALSE(is_faster_without_logits(size));
  }
}

// 63 us for the product and its ranking were measured by ncu.
TEST(OutputCost, IsThatOfTheWeightsForFewRows) {
  const OutputSize size{64, 512, 58101, 1};
  EXPECT_NEAR(seconds_without_logits(size), 63e-6, 10e-6);
  EXPECT_LT(seconds_with_logits(size), 40e-6);
  EXPECT_FALSE(is_faster_without_logits({1, 512, 58101, 1}));
}

TEST(OutputCost, RowsThatAreTooLongHaveLogits) {
  EXPECT_FALSE(is_faster_without_logits({1280, 8192, 30000, 4}));
}

}  // namespace
}  // namespace fuselage::cuda::output_cost_test
