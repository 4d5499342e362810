#include "base/suggest.h"

#include <gmock/gmock.h>

#include <array>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"dim-emb", "dim-rnn", "enc-depth", "skip"};

TEST(DidYouMean, NamesTheNearestCandidate) {
  EXPECT_EQ(did_you_mean("dim-emd", kNames), "; did you mean 'dim-emb'?");
  EXPECT_EQ(did_you_mean("enc_dept", kNames), "; did you mean 'enc-depth'?");
  EXPECT_EQ(did_you_mean("skp", kNames), "; did you mean 'skip'?");
}

TEST(DidYouMean, CompletesTheBeginningOrAWordOfAName) {
  constexpr std::array<std::string_view, 4> kOptions = {"mini-batch-words", "mini-batch",
                                                        "beam-size", "maxi-batch"};
  EXPECT_EQ(did_you_mean("beam", kOptions), "; did you mean 'beam-size'?");
  EXPECT_EQ(did_you_mean("mini", kOptions), "; did you mean 'mini-batch'?");
  EXPECT_EQ(did_you_mean("words", kOptions), "; did you mean 'mini-batch-words'?");
  EXPECT_EQ(did_you_mean("be", kOptions), "");
}

TEST(DidYouMean, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(did_you_mean("beam-size", kNames), "");
  EXPECT_EQ(did_you_mean("", kNames), "");
  EXPECT_EQ(did_you_mean("x", kNames), "");
  EXPECT_EQ(did_you_mean(std::string(100000, 'd'), kNames), "");
  EXPECT_EQ(did_you_mean("dim-emb", {}), "");
}

TEST(DidYouMean, DoesNotOfferACandidateThatSharesNoLetter) {
  constexpr std::array<std::string_view, 1> kOneLetter = {"y"};
  EXPECT_EQ(did_you_mean("x", kOneLetter), "");
}

TEST(DidYouMean, EscapesControlCharactersOfACandidate) {
  constexpr std::array<std::string_view, 1> kHostile = {"dim\x1b-emb"};
  EXPECT_EQ(did_you_mean("dim-emb", kHostile), "; did you mean 'dim\\x1b-emb'?");
}

TEST(FindName, GivesThePlaceOfAName) {
  EXPECT_EQ(find_name("option", "dim-emb", kNames), 0u);
  EXPECT_EQ(find_name("option", "skip", kNames), 3u);
}

TEST(FindName, RefusesAnUnknownNameWithTheNearestAndAll) {
  using ::testing::ThrowsMessage;
  EXPECT_THAT(
      [] { find_name("option", "dim-emd", kNames); },
      ThrowsMessage<Error>("there is no option 'dim-emd'; did you mean 'dim-emb'? It can be "
                           "dim-emb, dim-rnn, enc-depth, skip"));
  EXPECT_THAT(
      [] { find_name("option", "x", kNames); },
      ThrowsMessage<Error>("there is no option 'x'; it can be dim-emb, dim-rnn, enc-depth, skip"));
}

TEST(InQuotes, KeepsTextAndEscapesControlCharacters) {
  EXPECT_EQ(in_quotes("▁Tom"), "'▁Tom'");
  EXPECT_EQ(in_quotes("a\nb\x7f"), "'a\\x0ab\\x7f'");
}

TEST(InQuotes, CutsLongTextBetweenCharacters) {
  std::string text(79, 'a');
  text += "ä and more";
  EXPECT_EQ(in_quotes(text), "'" + std::string(79, 'a') + "…'");
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
}

}  // namespace
}  // namespace fuselage
