#include "ops/search/repeated_words.h"

#include <gmock/gmock.h>

#include <vector>

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::int64_t> repeats(const std::vector<std::int64_t>& text, std::int64_t n) {
  std::vector<std::int64_t> words;
  for_each_repeat([&](std::int64_t i) { return text[static_cast<std::size_t>(i)]; },
                  std::ssize(text), n, [&](std::int64_t word) { words.push_back(word); });
  return words;
}

TEST(RepeatedWords, CompleteAnNgramOfTheText) {
  EXPECT_THAT(repeats({5, 6, 7, 5}, 2), ElementsAre(6));
  EXPECT_THAT(repeats({5, 6, 5, 7, 5}, 2), ElementsAre(6, 7));
  EXPECT_THAT(repeats({5, 6, 7, 5, 6}, 3), ElementsAre(7));
  EXPECT_THAT(repeats({5, 6, 7, 5, 6}, 2), ElementsAre(7));
  EXPECT_THAT(repeats({5, 6, 7, 6}, 3), IsEmpty());
  EXPECT_THAT(repeats({4, 4, 4}, 2), ElementsAre(4, 4));
  EXPECT_THAT(repeats({4, 4, 4}, 3), ElementsAre(4));
  EXPECT_THAT(repeats({4, 4, 4}, 4), IsEmpty());
}

TEST(RepeatedWords, OfOneWordAreAllWords) {
  EXPECT_THAT(repeats({3, -1, 9}, 1), ElementsAre(3, 9));
}

TEST(RepeatedWords, NeedWords) {
  EXPECT_THAT(repeats({}, 1), IsEmpty());
  EXPECT_THAT(repeats({-1}, 2), IsEmpty());
  EXPECT_THAT(repeats({-1, 5, -1}, 2), IsEmpty()) << "the context is no word";
  EXPECT_THAT(repeats({-1, 5}, 3), IsEmpty());
  EXPECT_THAT(repeats({1, 2, 1}, 0), IsEmpty());
}

}  // namespace
}  // namespace fuselage
