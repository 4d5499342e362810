#include "backends/cpu/kernels/packed_lists.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "fuselage/base/quantized.h"

namespace fuselage::cpu::packed_lists_test {
namespace {

using ::testing::ElementsAre;

/// A matrix of n columns of k integers; column c has the scale c + 1.
struct Columns {
  Columns(std::size_t n, std::size_t terms)
      : stride(vector_bytes(DType::qint8, static_cast<std::int64_t>(terms))),
        bytes(n * stride),
        k(terms) {
    for (std::size_t c = 0; c < n; ++c) {
      const auto scale = static_cast<float>(c + 1);
      std::memcpy(&bytes[c * stride], &scale, sizeof scale);
      bias.push_back(scale / 2);
    }
  }

  MatrixColumns get() const { return {bytes.data(), stride, k, DType::qint8}; }

  std::size_t stride;
  std::vector<std::byte> bytes;
  std::size_t k;
  std::vector<float> bias;
};

std::vector<float> scales_of(const PackedList& list) {
  const float* scales = list.matrix->scales(0);
  return {scales, scales + list.matrix->n()};
}

TEST(PackedLists, HaveTheColumnsAndBiasesOfEachSentence) {
  const Columns matrix(10, 5);
  const std::vector<std::int32_t> words = {1, 4, 9, 0, 4}, begin = {0, 3, 3, 5};
  PackedLists lists;
  lists.pack(matrix.get(), matrix.bias.data(), {begin.data(), 3}, words);
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(2, 5, 10));
  EXPECT_THAT(std::vector(lists.of(0).bias, lists.of(0).bias + 3), ElementsAre(1, 2.5, 5));
  EXPECT_EQ(lists.of(1).matrix->n(), 0u);
  EXPECT_THAT(scales_of(lists.of(2)), ElementsAre(1, 5));
  EXPECT_THAT(std::vector(lists.of(2).bias, lists.of(2).bias + 2), ElementsAre(0.5, 2.5));
  // Another batch, without biases.
  const std::vector<std::int32_t> other = {7}, one = {0, 1};
  lists.pack(matrix.get(), nullptr, {one.data(), 1}, other);
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(8));
  EXPECT_EQ(lists.of(0).bias, nullptr);
}

TEST(PackedLists, AreNotMadeOfTooManyColumns) {
  const Columns matrix(2, 1024);
  const std::vector<std::int32_t> few = {0, 1}, few_begin = {0, 2};
  std::vector<std::int32_t> many, begin;
  for (std::size_t i = 0; i <= PackedLists::kMaxBytes / 1024; ++i) {
    begin.push_back(static_cast<std::int32_t>(i));
    many.push_back(1);
  }
  PackedLists lists;
  lists.pack(matrix.get(), nullptr, {few_begin.data(), 1}, few);
  EXPECT_NE(lists.of(0).matrix, nullptr);
  lists.pack(matrix.get(), nullptr, {begin.data(), begin.size() - 1}, many);
  EXPECT_EQ(lists.of(0).matrix, nullptr);
  lists.pack(matrix.get(), nullptr, {few_begin.data(), 1}, few);
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(1, 2));
}

}  // namespace
}  // namespace fuselage::cpu::packed_lists_test
