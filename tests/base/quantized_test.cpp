#include "fuselage/base/quantized.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fuselage/base/error.h"
#include "tests/base/quantized_support.h"

namespace fuselage::quantized_test {
namespace {

using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float scale(const Quantizer& quantizer, const std::vector<float>& x) {
  return scale_of(quantize(quantizer, x).data());
}

TEST(Quantized, VectorsAreWholeUnitsOfFourBytes) {
  EXPECT_EQ(vector_bytes(DType::qint8, 0), 4u);
  EXPECT_EQ(vector_bytes(DType::qint8, 1), 8u);
  EXPECT_EQ(vector_bytes(DType::qint8, 4), 8u);
  EXPECT_EQ(vector_bytes(DType::qint8, 5), 12u);
  EXPECT_EQ(vector_bytes(DType::qint16, 3), 12u);
  EXPECT_EQ(vector_bytes(DType::f32, 3), 12u);
}

TEST(Quantized, LargestBecomesTheLargestInteger) {
  EXPECT_EQ(integers({}, {1, -2, 0.5f}), (std::vector<std::int32_t>{64, -127, 32}));
  EXPECT_EQ(integers({.to = DType::qint16, .largest = 32767}, {2, -1}),
            (std::vector<std::int32_t>{32767, -16384}));
  EXPECT_EQ(scale({}, {1, -2, 0.5f}), 2.0f / 127);
}

TEST(Quantized, TiesGoToTheEvenInteger) {
  const Quantizer quantizer{.largest = 100, .scale = 0.5f};
  EXPECT_EQ(integers(quantizer, {0.25f, 0.75f, 1.25f, -0.25f, -0.75f, 0.249f}),
            (std::vector<std::int32_t>{0, 2, 2, 0, -2, 0}));
}

TEST(Quantized, AGivenScaleSaturates) {
  EXPECT_EQ(integers({.largest = 10, .scale = 0.5f}, {4.9f, 5.1f, 1e30f, -1e30f}),
            (std::vector<std::int32_t>{10, 10, 10, -10}));
  EXPECT_EQ(scale({.largest = 10, .scale = 0.5f}, {1e30f}), 0.5f);
}

TEST(Quantized, PaddingIsZero) {
  const std::vector<std::byte> vector = quantize({}, {1, 1, 1, 1, 1});
  ASSERT_EQ(vector.size(), 12u);
  for (std::size_t i = 9; i < 12; ++i) EXPECT_EQ(vector[i], std::byte{0});
}

TEST(Quantized, SumsOfMagnitudesStayWithinTheirBound) {
  const std::vector<float> x(50, -0.75f);
  for (const std::int64_t bound : {50, 100, 333, 4000}) {
    std::int64_t sum = 0;
    for (const std::int32_t q : integers({.largest_sum = bound}, x)) sum += std::abs(q);
    EXPECT_LE(sum, bound);
    EXPECT_GE(sum, bound - 50);
  }
  // No bound is reached here.
  EXPECT_EQ(scale({.largest_sum = 1000000}, x), scale({}, x));
  EXPECT_THROW(quantize({.largest_sum = 25}, x), InternalError);
}

TEST(Quantized, WhatIsNoNumberMakesTheScaleNaN) {
  for (const float bad : {kInfinity, -kInfinity, std::nanf("")})
    for (const float given : {0.0f, 1.0f}) {
      const Quantizer quantizer{.scale = given};
      EXPECT_TRUE(std::isnan(scale(quantizer, {1, bad})));
      EXPECT_EQ(integers(quantizer, {1, bad}), (std::vector<std::int32_t>{0, 0}));
    }
}

TEST(Quantized, WhatIsTooSmallIsZero) {
  EXPECT_EQ(scale({}, {0, -0.0f}), 0.0f);
  EXPECT_EQ(scale({}, {1e-44f, 1e-40f}), 0.0f);
  EXPECT_EQ(integers({}, {1e-44f, 1e-40f}), (std::vector<std::int32_t>{0, 0}));
}

TEST(Quantized, DequantizedNumbersAreNear) {
  const std::vector<float> x = {0.3f, -1.7f, 0.01f, 1.0f, 0};
  std::vector<float> back(x.size());
  const std::vector<std::byte> vector = quantize({}, x);
  dequantize_vector(DType::qint8, vector.data(), 5, back.data());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 0.51f * 1.7f / 127);
}

std::string complaint(const Quantizer& quantizer) {
  try {
    quantizer.verify();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Quantizer, SaysWhatDoesNotFit) {
  EXPECT_EQ(complaint({}), "none");
  EXPECT_EQ(complaint({.to = DType::qint16, .largest = 32767, .scale = 0.1f}), "none");
  EXPECT_THAT(complaint({.to = DType::f32}), HasSubstr("f32"));
  EXPECT_THAT(complaint({.largest = 128}), HasSubstr("128"));
  EXPECT_THAT(complaint({.largest = 0}), HasSubstr("127, not 0"));
  EXPECT_THAT(complaint({.largest_sum = -1}), HasSubstr("-1"));
  for (const float bad : {-1.0f, 1e-38f, kInfinity, std::nanf("")})
    EXPECT_THAT(complaint({.scale = bad}), HasSubstr("a scale of"));
  EXPECT_THAT(complaint({.largest_sum = 5000, .scale = 0.5f}), HasSubstr("5000"));
}

}  // namespace
}  // namespace fuselage::quantized_test
