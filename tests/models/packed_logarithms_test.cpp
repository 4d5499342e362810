#include "models/formats/packed_logarithms.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/numbers/logarithmic.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "models/formats/quantized_parts.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::array<std::int64_t, 12> kLengths = {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 37, 256};

/// Vectors of random numbers of `bits` bits, with the scale 1.
Tensor random_vectors(std::int64_t n, std::int64_t k, int bits) {
  std::mt19937 random(static_cast<std::uint32_t>(k * 8 + bits));
  Tensor tensor(DType::qlog4, {n, k});
  const auto stride = static_cast<std::int64_t>(vector_bytes(DType::qlog4, k));
  const int least = least_exponent(bits);
  const float scale = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    std::byte* vector = tensor.mutable_bytes() + i * stride;
    std::memcpy(vector, &scale, sizeof scale);
    for (std::int64_t j = 0; j < k; ++j)
      put_nibble(vector + sizeof scale, j, random() % 2 != 0,
                 least + static_cast<int>(random() % (8 - static_cast<unsigned>(least))));
    // All powers are there.
    put_nibble(vector + sizeof scale, 0, false, least);
  }
  return tensor;
}

void set_scale(Tensor& tensor, std::int64_t vector, float scale) {
  const std::size_t stride = vector_bytes(DType::qlog4, tensor.shape().back());
  std::memcpy(tensor.mutable_bytes() + static_cast<std::size_t>(vector) * stride, &scale,
              sizeof scale);
}

void clear_vector(Tensor& tensor, std::int64_t vector, float scale) {
  const std::size_t stride = vector_bytes(DType::qlog4, tensor.shape().back());
  std::memset(tensor.mutable_bytes() + static_cast<std::size_t>(vector) * stride, 0, stride);
  set_scale(tensor, vector, scale);
}

void expect_same_bytes(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0);
}

TEST(PackedLogarithms, AreASignAndAnExponentFromTheLowestBitOn) {
  // +16 -32 +64 -128 +128 -16 +32 +64, whose exponents are 4 5 6 7 7 4 5 6.
  const std::array<std::byte, 4> nibbles{std::byte{0xd4}, std::byte{0xf6}, std::byte{0xc7},
                                         std::byte{0x65}};
  std::array<std::byte, 3> packed{};
  pack_logarithms(nibbles.data(), 8, 3, packed.data());
  // 010 001 100 011 111 010 101 000: the last number first, as in the digits of a number.
  EXPECT_THAT(packed,
              ElementsAre(std::byte{0b10101000}, std::byte{0b00111110}, std::byte{0b01000110}));
}

TEST(PackedLogarithms, TakeNoMoreBytesThanTheirBits) {
  EXPECT_EQ(packed_bytes(256, 4), 128);
  EXPECT_EQ(packed_bytes(256, 3), 96);
  EXPECT_EQ(packed_bytes(256, 1), 32);
  EXPECT_EQ(packed_bytes(9, 3), 4);
  EXPECT_EQ(packed_bytes(0, 3), 0);
  const std::int64_t many = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_GT(packed_bytes(many, 4), many / 4) << "without an overflow";
  EXPECT_EQ(packed_bits(256, 96), 3);
  EXPECT_EQ(packed_bits(2, 1), 4) << "the most of the bits that take one byte";
  EXPECT_EQ(packed_bits(256, 97), std::nullopt);
  EXPECT_EQ(packed_bits(256, 0), std::nullopt);
}

TEST(PackedLogarithms, AreReadAsTheyWereWritten) {
  for (const std::int64_t k : kLengths)
    for (int bits = 1; bits <= 4; ++bits) {
      SCOPED_TRACE(std::to_string(k) + " numbers of " + std::to_string(bits) + " bits");
      const Tensor vectors = random_vectors(5, k, bits);
      const QuantizedParts parts = split_quantized(vectors);
      const int stored = *packed_bits(k, packed_bytes(k, bits));
      EXPECT_EQ(stored_bits(vectors), stored);
      EXPECT_THAT(parts.integers.shape(), ElementsAre(5, packed_bytes(k, stored)));
      EXPECT_EQ(file_bytes(vectors), 5u * static_cast<std::size_t>(packed_bytes(k, stored)) + 10u);
      const Tensor joined = join_packed(parts, {DType::qlog4, k}, "test");
      expect_same_bytes(joined, vectors);
      expect_same_bytes(split_quantized(joined).integers, parts.integers);
    }
}

TEST(PackedLogarithms, KeepVectorsWithoutNumbers) {
  for (int bits = 1; bits <= 4; ++bits) {
    Tensor vectors = random_vectors(3, 21, bits);
    clear_vector(vectors, 0, 0.0f);
    clear_vector(vectors, 2, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(stored_bits(vectors), bits) << "nibbles of zeros count for nothing";
    expect_same_bytes(join_packed(split_quantized(vectors), {DType::qlog4, 21}, "test"), vectors);
  }
  Tensor nothing = random_vectors(2, 21, 1);
  for (int i = 0; i < 2; ++i) clear_vector(nothing, i, 0.0f);
  EXPECT_EQ(stored_bits(nothing), 1);
  expect_same_bytes(join_packed(split_quantized(nothing), {DType::qlog4, 21}, "test"), nothing);
  // As files of others may have them.
  Tensor odd = random_vectors(3, 21, 2);
  set_scale(odd, 1, 0.0f);
  EXPECT_EQ(stored_bits(odd), 4);
  expect_same_bytes(join_packed(split_quantized(odd), {DType::qlog4, 21}, "test"), odd);
}

TEST(PackedLogarithms, AreRefusedWithBytesForNoWidth) {
  const QuantizedParts parts{Tensor(DType::u8, {5, 97}), Tensor(DType::f32, {5})};
  EXPECT_THAT(
      [&] {
        join_packed(parts, {DType::qlog4, 256}, "test");
      },
      ThrowsMessage<Error>(HasSubstr("u8 of shape [5, 97]; vectors of 256 numbers of 4, 3, "
                                     "2 or 1 bits are u8 in 128, 96, 64 or 32 bytes each")));
}

TEST(PackedLogarithms, AreRefusedWithBitsThatNoNumberHas) {
  for (int bits = 1; bits <= 3; ++bits) {
    QuantizedParts parts = split_quantized(random_vectors(5, 37, bits));
    const std::int64_t stride = parts.integers.shape().back();
    parts.integers.mutable_data<std::uint8_t>()[2 * stride - 1] |= 0x80;
    EXPECT_THAT(
        [&] {
          join_packed(parts, {DType::qlog4, 37}, "test");
        },
        ThrowsMessage<Error>(
            HasSubstr("test: behind 37 numbers of " + std::to_string(bits) + " bits the last ")));
  }
}

TEST(PackedLogarithms, AreRefusedWithNumbersThatHaveNoScale) {
  QuantizedParts parts = split_quantized(random_vectors(5, 37, 3));
  parts.scales = parts.scales.to_f32();
  parts.scales.mutable_data<float>()[3] = 0;
  EXPECT_THAT(
      [&] {
        join_packed(parts, {DType::qlog4, 37}, "test");
      },
      ThrowsMessage<Error>(
          HasSubstr("test: vector 3 has the scale 0, so all of its bits must be 0")));
}

}  // namespace
}  // namespace fuselage
