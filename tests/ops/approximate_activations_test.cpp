#include "ops/arithmetic/approximate_activations.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace fuselage::approximate_activations_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// An approximation and what it stands for.
struct Approximation {
  const char* name;
  float (*in_float)(float);
  double (*in_double)(double);
  double (*exact)(double);
  double error;   ///< largest one that is promised
  double middle;  ///< value at 0
};

const Approximation kApproximations[] = {
    {"sigmoid_fast", sigmoid_fast<float>, sigmoid_fast<double>, logistic, 2.9e-5, 0.5},
    {"tanh_fast", tanh_fast<float>, tanh_fast<double>, std::tanh, 5.7e-5, 0},
    {"sigmoid_table", sigmoid_table<float>, sigmoid_table<double>, logistic, 4.9e-4, 0.5},
    {"tanh_table", tanh_table<float>, tanh_table<double>, std::tanh, 9.8e-4, 0}};

/// A dense sweep of where something happens, and a coarse one of all other finite floats.
std::vector<float> sweep() {
  std::vector<float> x;
  for (int i = -1200000; i <= 1200000; ++i) x.push_back(static_cast<float>(i) * 1e-5f);
  for (std::uint32_t bits = 0; bits < 0x7f800000u; bits += 65521) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

TEST(ApproximateActivations, ErrorsAreWhatIsPromisedAndNotMuchLess) {
  for (const Approximation& of : kApproximations) {
    double in_float = 0, in_double = 0;
    for (const float x : sweep()) {
      in_float = std::max(in_float, std::abs(of.in_float(x) - of.exact(x)));
      in_double = std::max(in_double, std::abs(of.in_double(x) - of.exact(x)));
    }
    EXPECT_LE(in_float, of.error) << of.name;
    EXPECT_LE(in_double, of.error) << of.name;
    EXPECT_GT(in_float, 0.9 * of.error) << of.name;
  }
}

TEST(ApproximateActivations, StayWithinTheirLimitsAndAreOddAboutTheirMiddle) {
  for (const Approximation& of : kApproximations)
    for (const float x : sweep()) {
      const double y = of.in_float(x);
      ASSERT_LE(y, 1) << of.name << " of " << x;
      ASSERT_GE(y, 2 * of.middle - 1) << of.name << " of " << x;
      ASSERT_NEAR(of.in_float(-x) - of.middle, of.middle - y, 6e-8) << of.name << " of " << x;
    }
}

TEST(ApproximateActivations, RiseButForTheStepsThatAreNamed) {
  for (const Approximation& of : kApproximations) {
    double last = -1;
    for (int i = -1200000; i <= 1200000; ++i) {
      const double y = of.in_float(static_cast<float>(i) * 1e-5f);
      ASSERT_GE(y, last - 8e-5) << of.name << " of " << i;
      last = y;
    }
  }
}

TEST(ApproximateActivations, SpecialNumbers) {
  for (const Approximation& of : kApproximations) {
    for (const float far : {kInf, std::numeric_limits<float>::max(), 100.0f, 16.0f}) {
      EXPECT_EQ(of.in_float(far), 1.0f) << of.name;
      EXPECT_EQ(of.in_float(-far), static_cast<float>(2 * of.middle - 1)) << of.name;
    }
    for (const float small : {0.0f, -0.0f, 1e-40f, -1e-40f})
      EXPECT_NEAR(of.in_float(small), of.middle, 1e-39) << of.name;
    EXPECT_TRUE(std::isnan(of.in_float(std::numeric_limits<float>::quiet_NaN()))) << of.name;
    EXPECT_TRUE(std::isnan(of.in_double(std::numeric_limits<double>::quiet_NaN()))) << of.name;
  }
  EXPECT_TRUE(std::signbit(tanh_fast(-0.0f)));
  EXPECT_TRUE(std::signbit(tanh_table(-0.0f)));
}

TEST(ApproximateActivations, TanhIsSigmoidOfTwice) {
  for (const float x : sweep()) {
    ASSERT_NEAR(tanh_fast(x), 2 * sigmoid_fast(x + x) - 1, 2e-7) << x;
    ASSERT_NEAR(tanh_table(x), 2 * sigmoid_table(x + x) - 1, 2e-7) << x;
  }
}

}  // namespace
}  // namespace fuselage::approximate_activations_test
