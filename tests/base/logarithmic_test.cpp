#include "base/numbers/logarithmic.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "tests/base/quantized_support.h"

namespace fuselage::logarithmic_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Quantizer kExact{.to = DType::qlog4, .largest = 128, .scale = 1};

/// A vector's squared error, in which every level is tried for each number.
double least_error(const std::vector<float>& x, float scale, int bits) {
  double sum = 0;
  for (const float w : x) {
    double least = std::numeric_limits<double>::infinity();
    for (int e = least_exponent(bits); e <= kTopExponent; ++e) {
      const double error = std::fabs(w) - std::ldexp(static_cast<double>(scale), e);
      least = std::min(least, error * error);
    }
    sum += least;
  }
  return sum;
}

double squared_error(const Quantizer& quantizer, const std::vector<float>& x) {
  const std::vector<std::byte> vector = quantize(quantizer, x);
  std::vector<float> back(x.size());
  dequantize_vector(quantizer.to, vector.data(), static_cast<std::int64_t>(x.size()), back.data());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = static_cast<double>(x[i]) - static_cast<double>(back[i]);
    sum += error * error;
  }
  return sum;
}

std::vector<float> normal_numbers(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.1f);
  std::vector<float> x(size);
  for (float& value : x) value = normal(random);
  return x;
}

TEST(Logarithmic, TwoNumbersTakeAByte) {
  EXPECT_EQ(vector_bytes(DType::qlog4, 0), 4u);
  EXPECT_EQ(vector_bytes(DType::qlog4, 1), 8u);
  EXPECT_EQ(vector_bytes(DType::qlog4, 8), 8u);
  EXPECT_EQ(vector_bytes(DType::qlog4, 9), 12u);
  const std::vector<std::byte> vector = quantize(kExact, {1, -128, -2});
  ASSERT_EQ(vector.size(), 8u);
  EXPECT_EQ(vector[4], std::byte{0xf0});  // e 0; then the sign and e 7
  EXPECT_EQ(vector[5], std::byte{0x09});
  EXPECT_EQ(vector[6], std::byte{0});
  EXPECT_EQ(vector[7], std::byte{0});
}

TEST(Logarithmic, NumbersBecomeTheNearestPowerOfTwo) {
  EXPECT_THAT(integers(kExact, {1, 1.49f, 2.99f, 3.01f, 95, 97, -5.9f, -6.1f}),
              ElementsAre(1, 1, 2, 4, 64, 128, -4, -8));
  EXPECT_THAT(integers(kExact, {0, 0.1f, -0.1f, 200, -1e30f}), ElementsAre(1, 1, -1, 128, -128));
}

TEST(Logarithmic, TiesGoToTheLargerLevel) {
  EXPECT_THAT(integers(kExact, {1.5f, 3, -6, 96}), ElementsAre(2, 4, -8, 128));
}

TEST(Logarithmic, FewerBitsKeepTheUpperLevels) {
  Quantizer quantizer = kExact;
  const std::vector<float> x = {1, -20, 30, 100};
  EXPECT_THAT(integers(quantizer, x), ElementsAre(1, -16, 32, 128));
  quantizer.bits = 3;
  EXPECT_THAT(integers(quantizer, x), ElementsAre(16, -16, 32, 128));
  quantizer.bits = 2;
  EXPECT_THAT(integers(quantizer, x), ElementsAre(64, -64, 64, 128));
  quantizer.bits = 1;
  EXPECT_THAT(integers(quantizer, x), ElementsAre(128, -128, 128, 128));
}

TEST(Logarithmic, AScaleIsOneThatBfloat16Holds) {
  const std::vector<float> x = normal_numbers(67, 1);
  for (const ScaleFit fit : {ScaleFit::largest, ScaleFit::fitted}) {
    const float scale =
        scale_of(quantize({.to = DType::qlog4, .largest = 128, .fit = fit}, x).data());
    EXPECT_EQ(bfloat16_to_float(float_to_bfloat16(scale)), scale);
  }
}

TEST(Logarithmic, WhatIsExactStaysExact) {
  const float scale = 0.3f;  // no number of bf16
  const std::vector<float> x = {scale * 128, -scale * 2, scale, scale * 64};
  for (const ScaleFit fit : {ScaleFit::largest, ScaleFit::fitted}) {
    const Quantizer quantizer{.to = DType::qlog4, .largest = 128, .fit = fit};
    EXPECT_EQ(scale_of(quantize(quantizer, x).data()), scale);
    EXPECT_EQ(squared_error(quantizer, x), 0);
  }
}

TEST(Logarithmic, AssignmentHasTheLeastError) {
  for (const int bits : {1, 2, 3, 4}) {
    const std::vector<float> x = normal_numbers(101, 2);
    const Quantizer quantizer{.to = DType::qlog4, .largest = 128, .bits = bits};
    const float scale = scale_of(quantize(quantizer, x).data());
    const double least = least_error(x, scale, bits);
    EXPECT_NEAR(squared_error(quantizer, x), least, 1e-6 * least);
  }
}

TEST(Logarithmic, AFittedScaleIsNeverWorse) {
  for (const int bits : {1, 2, 3, 4})
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::vector<float> x = normal_numbers(1 + seed % 40, seed);
      if (seed % 3 == 0) x[0] *= 50;  // far away from the others
      const double fitted = squared_error({.to = DType::qlog4, .largest = 128, .bits = bits}, x);
      const double largest = squared_error(
          {.to = DType::qlog4, .largest = 128, .bits = bits, .fit = ScaleFit::largest}, x);
      EXPECT_LE(fitted, largest * (1 + 1e-6)) << bits << " bits, seed " << seed;
    }
}

TEST(Logarithmic, AFittedScaleIsBetterForNormalNumbers) {
  const std::vector<float> x = normal_numbers(1000, 7);
  for (const int bits : {1, 2, 3})
    EXPECT_LT(
        squared_error({.to = DType::qlog4, .largest = 128, .bits = bits}, x),
        0.95 *
            squared_error(
                {.to = DType::qlog4, .largest = 128, .bits = bits, .fit = ScaleFit::largest}, x));
}

/// With one bit the scale of least squared error is the mean magnitude.
TEST(Logarithmic, OneBitIsFittedToTheMean) {
  const std::vector<float> x = {1, -2, 3, -6};
  EXPECT_EQ(squared_error({.to = DType::qlog4, .largest = 128, .bits = 1}, x), 4 + 1 + 0 + 9);
}

TEST(Logarithmic, ZerosHaveTheScaleZero) {
  const Quantizer quantizer{.to = DType::qlog4, .largest = 128};
  for (const std::vector<float>& x : {std::vector<float>{0, -0.0f, 0}, {1e-44f, -1e-40f, 0}}) {
    EXPECT_EQ(quantize(quantizer, x), std::vector<std::byte>(8));
    EXPECT_GE(squared_error(quantizer, x), 0);
  }
}

TEST(Logarithmic, WhatIsNoNumberMakesTheScaleNaN) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")})
    for (const float given : {0.0f, 1.0f})
      EXPECT_TRUE(std::isnan(scale_of(
          quantize({.to = DType::qlog4, .largest = 128, .scale = given}, {1, bad}).data())));
}

TEST(Logarithmic, RowsKeepTheirZeros) {
  const Quantizer rows{.largest = 64, .logarithmic = true};
  EXPECT_THAT(integers(rows, {64, 0, -0.49f, 0.5f, -0.7f, 0.8f, 1.5f, -47, -48}),
              ElementsAre(64, 0, 0, 1, -1, 1, 2, -32, -64));
  EXPECT_EQ(scale_of(quantize(rows, {0.5f, -2}).data()), 2.0f / 64);
}

std::string complaint(const Quantizer& quantizer) {
  try {
    quantizer.verify();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Logarithmic, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint({.to = DType::qlog4, .largest = 128}), "none");
  EXPECT_EQ(complaint({.largest = 64, .logarithmic = true}), "none");
  EXPECT_THAT(complaint({.to = DType::qlog4}), HasSubstr("up to 128"));
  EXPECT_THAT(complaint({.to = DType::qlog4, .largest = 128, .largest_sum = 500}),
              HasSubstr("128 and 500"));
  for (const int bits : {0, 5})
    EXPECT_THAT(complaint({.to = DType::qlog4, .largest = 128, .bits = bits}),
                HasSubstr("1 to 4 bits, not " + std::to_string(bits)));
  EXPECT_THAT(complaint({.logarithmic = true}), HasSubstr("up to 64, not qint8 up to 127"));
  EXPECT_THAT(complaint({.to = DType::qint16, .largest = 64, .logarithmic = true}),
              HasSubstr("not qint16"));
}

}  // namespace
}  // namespace fuselage::logarithmic_test
