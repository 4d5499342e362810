#include "models/finite_weights.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage::finite_weights_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string error_of(const Tensor& tensor) {
  try {
    expect_finite({{"good", Tensor(DType::f32, {3})}, {"W", tensor}}, "m.npz");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The largest finite numbers of either sign, but for element `at`.
Tensor floats(std::int64_t size, std::int64_t at, float value) {
  Tensor tensor(DType::f32, {size});
  for (std::int64_t i = 0; i < size; ++i)
    tensor.mutable_data<float>()[i] =
        i % 2 == 0 ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
  if (at < size) tensor.mutable_data<float>()[at] = value;
  return tensor;
}

TEST(FiniteWeights, NamesParameterAndElement) {
  EXPECT_EQ(error_of(floats(10000, 10000, 0)), "no error");
  for (const std::int64_t at : {0, 1, 4095, 4096, 9998, 9999})
    for (const float value : {kNan, -kNan, kInfinity, -kInfinity})
      EXPECT_THAT(error_of(floats(10000, at, value)),
                  AllOf(HasSubstr("m.npz: parameter 'W' holds"),
                        HasSubstr("at element " + std::to_string(at))));
}

TEST(FiniteWeights, ChecksEveryFloatingPointType) {
  Tensor bad(DType::f32, {5});
  bad.mutable_data<float>()[3] = -kInfinity;
  Tensor half(DType::f16, {5}), wide(DType::f64, {5});
  EXPECT_EQ(error_of(half), "no error");
  EXPECT_EQ(error_of(wide), "no error");
  half.mutable_data<std::uint16_t>()[3] = 0xfc00;
  wide.mutable_data<double>()[3] = -std::numeric_limits<double>::infinity();
  for (const Tensor& tensor : {bad, bad.to_bf16(), half, wide})
    EXPECT_THAT(error_of(tensor), HasSubstr("'W' holds -inf at element 3"));
  half.mutable_data<std::uint16_t>()[3] = 0x7bff;
  EXPECT_EQ(error_of(half), "no error");
}

TEST(FiniteWeights, ChecksTheScalesOfQuantizedVectors) {
  Tensor numbers(DType::f32, {3, 5});
  for (std::int64_t i = 0; i < 15; ++i) numbers.mutable_data<float>()[i] = static_cast<float>(i);
  for (const Quantizer& quantizer : {Quantizer{}, Quantizer{.to = DType::qint16, .largest = 32767},
                                     Quantizer{.to = DType::qlog4, .largest = 128}}) {
    Tensor tensor = quantized(quantizer, numbers);
    EXPECT_EQ(error_of(tensor), "no error");
    std::memcpy(tensor.mutable_bytes() + 2 * vector_bytes(quantizer.to, 5), &kInfinity, 4);
    EXPECT_THAT(error_of(tensor), HasSubstr("parameter 'W': the scale of its vector 2 is not"));
  }
}

TEST(FiniteWeights, TakesIntegersAndEmptyTensors) {
  EXPECT_EQ(error_of(Tensor(DType::i8, {3})), "no error");
  EXPECT_EQ(error_of(Tensor(DType::f32, {0, 3})), "no error");
  EXPECT_EQ(error_of(Tensor(DType::qint8, {0, 3})), "no error");
}

}  // namespace
}  // namespace fuselage::finite_weights_test
