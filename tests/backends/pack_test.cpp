#include "backends/cpu/weights/pack.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/base/tensor.h"

namespace fuselage::cpu {
namespace {

TEST(Pack, RefusesColumnsOfWhichProductsMayLeave32Bits) {
  constexpr std::int64_t kRows = 16;
  Tensor ones(DType::f32, {2, kRows});
  std::fill_n(ones.mutable_data<float>(), ones.size(), 1.0f);
  const MatrixShape shape{.k = kRows, .n = 2, .transposed = true, .dtype = DType::qint16};
  // Sixteen of the largest integers.
  const Tensor unbounded = quantized({.to = DType::qint16, .largest = 32767}, ones);
  EXPECT_THAT(
      [&] { pack(unbounded.bytes(), shape); },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr("sum up to 524272, but beyond")));
  const Tensor bounded = quantized(
      {.to = DType::qint16, .largest = 32767, .largest_sum = kLargestSumOfInt16Columns}, ones);
  EXPECT_EQ(pack(bounded.bytes(), shape).dtype(), DType::qint16);
}

}  // namespace
}  // namespace fuselage::cpu
