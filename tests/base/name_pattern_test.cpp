#include "base/name_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace fuselage {
namespace {

TEST(MatchesPattern, ComparesWholeNames) {
  EXPECT_TRUE(matches_pattern("Wemb", "Wemb"));
  EXPECT_FALSE(matches_pattern("Wemb", "Wemb_dec"));
  EXPECT_FALSE(matches_pattern("emb", "Wemb"));
  EXPECT_FALSE(matches_pattern("", "Wemb"));
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_FALSE(matches_pattern("wemb", "Wemb"));
}

TEST(MatchesPattern, TakesAnyCharactersForAStarAndOneForAQuestionMark) {
  for (const char* pattern : {"*", "**", "decoder*", "*_W", "d*_W", "decoder_cell?_W", "*cell?*",
                              "*decoder_cell1_W*", "*e*e*e*"})
    EXPECT_TRUE(matches_pattern(pattern, "decoder_cell1_W")) << pattern;
  for (const char* pattern : {"*_U", "?", "decoder", "decoder_cell?W", "?*_W_", "encoder*"})
    EXPECT_FALSE(matches_pattern(pattern, "decoder_cell1_W")) << pattern;
  EXPECT_TRUE(matches_pattern("*ab", "aab"));
  EXPECT_TRUE(matches_pattern("a*ab*b", "aababb"));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_FALSE(matches_pattern("?", ""));
}

TEST(MatchesPattern, IsFastForManyStars) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) pattern += "*a";
  EXPECT_FALSE(matches_pattern(pattern + "b", std::string(10000, 'a')));
}

}  // namespace
}  // namespace fuselage
