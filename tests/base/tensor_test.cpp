#include "base/tensor.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"

namespace fuselage {
namespace {

TEST(Tensor, ScalarHasOneElementAndEmptyHasNone) {
  EXPECT_EQ(Tensor(DType::f32, {}).size(), 1);
  EXPECT_EQ(Tensor(DType::f32, {1, 0}).size(), 0);
}

TEST(Tensor, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(Tensor(DType::f32, {-1}), Error);
  EXPECT_THROW(Tensor(DType::f32, {std::numeric_limits<std::int64_t>::max(), 4}), Error);
}

TEST(Tensor, WidensAndNarrowsHalfPrecision) {
  Tensor wide(DType::f32, {4});
  const float values[] = {1.0f, -0.1f, 65504.0f, 1e-7f};
  std::copy(std::begin(values), std::end(values), wide.mutable_data<float>());
  const Tensor back = wide.to_f16().to_f32();
  EXPECT_EQ(back.data<float>()[0], 1.0f);
  EXPECT_NEAR(back.data<float>()[1], -0.1f, 5e-5);
  EXPECT_EQ(back.data<float>()[2], 65504.0f);
  EXPECT_NEAR(back.data<float>()[3], 1e-7f, 6e-8);
}

TEST(DType, NamesRoundTrip) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::i8, DType::u64})
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  EXPECT_FALSE(dtype_from_string("f33").has_value());
}

}  // namespace
}  // namespace fuselage
