#include "models/formats/packed_integers.h"

#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "models/formats/packed_logarithms.h"
#include "models/formats/quantized_parts.h"

namespace fuselage::packed_integers_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Vectors of random integers of at most `bits` bits, of which one has all of them.
Tensor random_vectors(std::int64_t n, std::int64_t k, int bits) {
  std::mt19937 random(static_cast<std::uint32_t>(k * 8 + bits));
  const int largest = (1 << (bits - 1)) - 1;
  Tensor numbers(DType::f32, {n, k});
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    numbers.mutable_data<float>()[i] =
        static_cast<float>(static_cast<int>(random() % (2u * largest + 1)) - largest);
  numbers.mutable_data<float>()[0] = static_cast<float>(-largest);
  return quantized({.largest = largest, .scale = 1}, numbers);
}

void expect_same_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0);
}

TEST(PackedIntegers, AreReadAsTheyWereWritten) {
  for (const int bits : {2, 3, 4})
    for (const std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 37, 256}) {
      const Tensor vectors = random_vectors(3, k, bits);
      const QuantizedParts parts = split_quantized(vectors);
      EXPECT_EQ(parts.integers.dtype(), DType::u8);
      EXPECT_EQ(parts.integers.shape().back(), packed_bytes(k, bits)) << k << " of " << bits;
      expect_same_bytes(join_packed(parts, {DType::qint8, k}, "test"), vectors);
    }
}

TEST(PackedIntegers, FollowEachOtherFromTheLowestBit) {
  Tensor numbers(DType::f32, {1, 8});
  for (const auto& [i, q] : {std::pair{0, 3.0F}, {1, -2.0F}, {2, -1.0F}, {7, 1.0F}})
    numbers.mutable_data<float>()[i] = q;
  const QuantizedParts parts = split_quantized(quantized({.largest = 3, .scale = 1}, numbers));
  ASSERT_THAT(parts.integers.shape(), ElementsAre(1, 3));
  // 001 000 000 000 000 111 110 011.
  EXPECT_EQ(parts.integers.data<std::uint8_t>()[0], 0b11110011);
  EXPECT_EQ(parts.integers.data<std::uint8_t>()[1], 0b00000001);
  EXPECT_EQ(parts.integers.data<std::uint8_t>()[2], 0b00100000);
}

TEST(PackedIntegers, LargerOnesTakeAByte) {
  const Tensor vectors = random_vectors(2, 9, 5);
  EXPECT_EQ(integer_bits(vectors), 8);
  EXPECT_EQ(split_quantized(vectors).integers.dtype(), DType::i8);
  EXPECT_EQ(integer_bits(Tensor(DType::qint8, {0, 9})), 8);
}

TEST(PackedIntegers, WithoutANegativeAreRefused) {
  QuantizedParts parts = split_quantized(random_vectors(2, 8, 4));
  parts.integers.mutable_data<std::uint8_t>()[3] = 0x81;
  EXPECT_THAT(
      [&] {
        join_packed(parts, {DType::qint8, 8}, "w");
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("w: it holds -8"), HasSubstr("from -7 to 7"))));
}

TEST(PackedIntegers, OfAnotherLengthAreRefused) {
  const QuantizedParts parts = split_quantized(random_vectors(2, 8, 4));
  EXPECT_THAT(
      [&] {
        join_packed(parts, {DType::qint8, 80}, "w");
      },
      ThrowsMessage<Error>(HasSubstr("vectors of 80 numbers of 4, 3, 2 or 1 bits")));
  QuantizedParts behind = split_quantized(random_vectors(1, 37, 4));
  behind.integers.mutable_data<std::uint8_t>()[18] |= 0x80;
  EXPECT_THAT(
      [&] {
        join_packed(behind, {DType::qint8, 37}, "w");
      },
      ThrowsMessage<Error>(HasSubstr("behind 37 numbers of 4 bits")));
}

}  // namespace
}  // namespace fuselage::packed_integers_test
