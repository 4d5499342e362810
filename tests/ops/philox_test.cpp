#include "ops/search/philox.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>

namespace fuselage {
namespace {

using ::testing::ElementsAre;

// The known answers of the authors' implementation, Random123 (kat_vectors).
TEST(Philox, GivesTheKnownAnswers) {
  constexpr std::uint32_t kAll = 0xffffffff;
  EXPECT_THAT(philox4x32({{0, 0, 0, 0}}, 0).x,
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({{kAll, kAll, kAll, kAll}}, 0xffffffffffffffff).x,
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822).x,
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(Philox, NumbersOfAStreamAreInsideOfTheUnitIntervalAndUniform) {
  constexpr int kCount = 100000, kBins = 50;
  std::array<int, kBins> counts{};
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const float u = uniform_number(12345, i);
    ASSERT_GT(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++counts[static_cast<std::size_t>(u * kBins)];
  }
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = static_cast<double>(kCount) / kBins;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 85.35);  // 49 degrees of freedom, p = 0.001
}

TEST(Philox, AStreamIsFourPartsOfItsKey) {
  const float parts[] = {65535, 2, 0, 32768};
  EXPECT_EQ(stream_key(parts), 0x800000000002ffff);
  const double none[] = {-1, 65536, 1e30, 0.0 / 0.0};
  EXPECT_EQ(stream_key(none), 0u);
}

}  // namespace
}  // namespace fuselage
