#include "models/quantized/fitted_scale.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "models/quantized/quantize_model.h"

namespace fuselage::fitted_scale_test {
namespace {

constexpr Quantizer kFourBits{.largest = 7};

double squared_error(const std::vector<float>& x, float scale) {
  double error = 0;
  for (const float number : x) {
    const double q = std::fmax(-7, std::fmin(7, std::nearbyint(number / scale)));
    error += std::pow(number - scale * q, 2);
  }
  return error;
}

std::vector<float> normal_numbers(std::size_t count) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 0.03F);
  std::vector<float> x(count);
  for (float& number : x) number = normal(random);
  return x;
}

float fitted(const std::vector<float>& x) {
  return fitted_scale(kFourBits, x.data(), static_cast<std::int64_t>(x.size()));
}

TEST(FittedScale, HasNearlyTheLeastSquaredError) {
  for (const std::size_t count : {3, 17, 256, 1024}) {
    const std::vector<float> x = normal_numbers(count);
    float top = 0;
    for (const float number : x) top = std::fmax(top, std::fabs(number));
    const double error = squared_error(x, fitted(x));
    EXPECT_LE(error, 1.02 * squared_error(x, top / 7)) << count;
    double least = error;
    for (int i = 300; i <= 1000; ++i)
      least = std::fmin(least, squared_error(x, top / 7 * static_cast<float>(i) / 1000));
    EXPECT_LE(error, 1.05 * least + 1e-12) << count;
  }
}

TEST(FittedScale, IsExactWhereIntegersAre) {
  constexpr float kScale = 1 + 0x1p-8F;  // which bf16 has not
  EXPECT_EQ(fitted({kScale * 7, kScale * -2, kScale * 5, 0}), kScale);
  EXPECT_NE(fitted({kScale * 7, kScale * -2, kScale * 5, 0.1F}), kScale);
}

TEST(FittedScale, IsThatOfNumbersThatCannotBeFitted) {
  EXPECT_EQ(fitted({0, 0, 0}), 0);
  EXPECT_TRUE(std::isnan(fitted({1, std::numeric_limits<float>::infinity()})));
}

}  // namespace
}  // namespace fuselage::fitted_scale_test
