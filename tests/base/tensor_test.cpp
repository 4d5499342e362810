#include "fuselage/base/tensor.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "fuselage/base/error.h"

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

TEST(Tensor, RoundsToBfloat16) {
  const auto rounded = [](float x) { return bfloat16_to_float(float_to_bfloat16(x)); };
  EXPECT_EQ(rounded(-1.5f), -1.5f);
  EXPECT_EQ(rounded(1 + 0x1p-8f), 1);  // ties go to the even one
  EXPECT_EQ(rounded(1 + 3 * 0x1p-8f), 1 + 0x1p-6f);
  EXPECT_EQ(rounded(1 + 0x1p-8f + 0x1p-20f), 1 + 0x1p-7f);
  EXPECT_EQ(rounded(-0x1p-140f), 0);  // below the least subnormal number
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(rounded(-std::numeric_limits<float>::infinity()),
            -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0xffffffffu))));
}

TEST(Tensor, WidensAndNarrowsBfloat16) {
  Tensor wide(DType::f32, {3});
  const float values[] = {-2.0f, 0.1f, 3e38f};
  std::copy(std::begin(values), std::end(values), wide.mutable_data<float>());
  const Tensor narrow = wide.to_bf16();
  EXPECT_EQ(narrow.size_bytes(), 6u);
  const Tensor back = narrow.to_f32();
  EXPECT_EQ(back.data<float>()[0], -2.0f);
  EXPECT_NEAR(back.data<float>()[1], 0.1f, 2e-4);
  EXPECT_NEAR(back.data<float>()[2], 3e38f, 1e36);
}

Tensor one_number(float x) {
  Tensor tensor(DType::f32, {1, 1});
  *tensor.mutable_data<float>() = x;
  return tensor;
}

TEST(Tensor, DeferredIsMadeOnceWhenItIsRead) {
  int made = 0;
  const DeferredTensor source{.make =
                                  [&made] {
                                    ++made;
                                    return one_number(3);
                                  },
                              .stored = "3",
                              .conversion = "decimal"};
  const Tensor tensor(DType::f32, {1, 1}, source);
  const std::vector<Tensor> copies = {tensor, tensor.reshaped({1})};
  EXPECT_EQ(copies[1].size_bytes(), 4u);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(*tensor.data<float>(), 3);
  for (const Tensor& copy : copies) {
    EXPECT_EQ(copy.bytes(), tensor.bytes());
    EXPECT_EQ(copy.source()->stored, "3");
  }
  EXPECT_EQ(made, 1);
}

TEST(Tensor, DeferredHasNoSourceOnceItMayHaveChanged) {
  Tensor tensor(DType::f32, {1, 1}, DeferredTensor{.make = [] { return one_number(3); }});
  const Tensor copy = tensor;
  *tensor.mutable_data<float>() = 4;
  EXPECT_EQ(*copy.data<float>(), 4);
  EXPECT_EQ(tensor.source(), nullptr);
  EXPECT_EQ(copy.source(), nullptr);
  EXPECT_EQ(one_number(1).source(), nullptr);
}

TEST(Tensor, DeferredIsTriedAgainAfterAnError) {
  bool fails = true;
  const Tensor tensor(DType::f32, {1}, DeferredTensor{.make = [&fails] {
                        if (fails) throw Error("damaged");
                        return one_number(3);
                      }});
  EXPECT_THROW(tensor.bytes(), Error);
  fails = false;
  EXPECT_EQ(*tensor.data<float>(), 3);
  const Tensor wrong(DType::f32, {2}, DeferredTensor{.make = [] { return one_number(3); }});
  EXPECT_THROW(wrong.bytes(), InternalError);
}

TEST(DType, NamesRoundTrip) {
  for (const DType dtype :
       {DType::f16, DType::bf16, DType::f32, DType::i8, DType::u64, DType::qint16, DType::qlog4})
    EXPECT_EQ(dtype_from_string(to_string(dtype)), dtype);
  EXPECT_FALSE(dtype_from_string("f33").has_value());
}

}  // namespace
}  // namespace fuselage
