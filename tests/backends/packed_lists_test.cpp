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

using Words = PackedLists::Words;

TEST(PackedLists, HaveTheColumnsAndBiasesOfEachSentence) {
  const Columns matrix(10, 5);
  const std::vector<std::int32_t> first = {1, 4, 9}, last = {0, 4}, other = {7};
  PackedLists lists;
  lists.add(matrix.get(), matrix.bias.data(), std::vector<Words>{{0, first}, {1, {}}, {2, last}});
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(2, 5, 10));
  EXPECT_THAT(std::vector(lists.of(0).bias, lists.of(0).bias + 3), ElementsAre(1, 2.5, 5));
  EXPECT_EQ(lists.of(1).matrix->n(), 0u);
  EXPECT_THAT(scales_of(lists.of(2)), ElementsAre(1, 5));
  EXPECT_THAT(std::vector(lists.of(2).bias, lists.of(2).bias + 2), ElementsAre(0.5, 2.5));
  // Another sentence in the place of the first.
  lists.add(matrix.get(), matrix.bias.data(), std::vector<Words>{{0, other}});
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(8));
  EXPECT_THAT(scales_of(lists.of(2)), ElementsAre(1, 5));
  // Another batch, without biases.
  lists.clear();
  EXPECT_EQ(lists.of(2).matrix, nullptr);
  lists.add(matrix.get(), nullptr, std::vector<Words>{{0, other}});
  EXPECT_THAT(scales_of(lists.of(0)), ElementsAre(8));
  EXPECT_EQ(lists.of(0).bias, nullptr);
}

TEST(PackedLists, AreNotMadeOfTooManyColumns) {
  const Columns matrix(2, 1024);
  const std::vector<std::int32_t> few = {0, 1}, half(PackedLists::max_bytes() / 1024 / 2 + 100, 1);
  PackedLists lists;
  lists.add(matrix.get(), nullptr, std::vector<Words>{{3, few}});
  EXPECT_NE(lists.of(3).matrix, nullptr);
  lists.add(matrix.get(), nullptr, std::vector<Words>{{0, half}, {1, half}, {2, few}});
  EXPECT_EQ(lists.of(0).matrix, nullptr);
  EXPECT_EQ(lists.of(2).matrix, nullptr) << "all or none of those that come together";
  EXPECT_NE(lists.of(3).matrix, nullptr);
  lists.add(matrix.get(), nullptr, std::vector<Words>{{0, half}});
  EXPECT_NE(lists.of(0).matrix, nullptr);
  lists.add(matrix.get(), nullptr, std::vector<Words>{{1, half}});
  EXPECT_EQ(lists.of(1).matrix, nullptr);
  lists.add(matrix.get(), nullptr, std::vector<Words>{{0, few}, {1, half}});
  EXPECT_NE(lists.of(1).matrix, nullptr);
}

TEST(FreeExtents, JoinPartsThatAreAdjacent) {
  FreeExtents free(100);
  EXPECT_EQ(free.take(40), 0u);
  EXPECT_EQ(free.take(30), 40u);
  EXPECT_EQ(free.take(31), std::nullopt);
  EXPECT_EQ(free.take(30), 70u);
  free.give(0, 40);
  free.give(70, 30);
  EXPECT_EQ(free.take(41), std::nullopt);
  free.give(40, 30);
  EXPECT_EQ(free.take(100), 0u);
}

}  // namespace
}  // namespace fuselage::cpu::packed_lists_test
