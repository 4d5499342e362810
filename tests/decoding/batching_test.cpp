#include "decoding/batching.h"

#include <gmock/gmock.h>

#include <array>

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::array<std::size_t, 5> kLengths = {3, 9, 1, 9, 4};

TEST(MakeBatches, KeepsTheOrderUnlessAskedToSort) {
  EXPECT_THAT(make_batches(kLengths, {.mini_batch = 2}),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(MakeBatches, SortsTheLongestFirstAndEqualOnesInOrder) {
  EXPECT_THAT(make_batches(kLengths, {.mini_batch = 3, .sort_by_length = true}),
              ElementsAre(ElementsAre(1, 3, 4), ElementsAre(0, 2)));
}

TEST(MakeBatches, CountsWordsWithPadding) {
  EXPECT_THAT(make_batches(kLengths, {.mini_batch_words = 18, .sort_by_length = true}),
              ElementsAre(ElementsAre(1, 3), ElementsAre(4, 0, 2)));
}

TEST(MakeBatches, GivesASentenceThatIsTooLongABatchOfItsOwn) {
  EXPECT_THAT(
      make_batches(kLengths, {.mini_batch_words = 5}),
      ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3), ElementsAre(4)));
}

TEST(MakeBatches, TakesNothing) { EXPECT_THAT(make_batches({}, {}), IsEmpty()); }

}  // namespace
}  // namespace fuselage
