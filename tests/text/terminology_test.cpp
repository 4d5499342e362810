#include "text/terms/terminology.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "text/vocabulary.h"
#include "text/word_boundaries.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(WordTokens, AreWordsAndOtherCharacters) {
  EXPECT_THAT(word_tokens("New  York's 2nd “café”!"),
              ElementsAre("New", "York", "'", "s", "2nd", "“", "café", "”", "!"));
  EXPECT_THAT(word_tokens("東京タワー"), ElementsAre("東", "京", "タ", "ワ", "ー"));
  EXPECT_THAT(word_tokens("Δοκιμή тест"), ElementsAre("Δοκιμή", "тест"));
  EXPECT_THAT(word_tokens(" \t "), IsEmpty());
}

TEST(WordTokens, LettersMayGoOnWithAWord) {
  for (const char* text : {"a", "7b", "ß", "ж", "é!"})
    EXPECT_TRUE(begins_with_letter(text)) << text;
  for (const char* text : {"", "-a", " a", "”", "猫", "ア", "…", "€"})
    EXPECT_FALSE(begins_with_letter(text)) << text;
}

TEST(Terminology, FindsWholeWordsTheLongestFirst) {
  const Terminology terms(
      "New York\tNew York\nYork\tYork\nhouse\tHaus\tGebäude\nold house\tAltbau\n", "terms.tsv");
  EXPECT_THAT(terms.find("A house in New  York, not in York."), ElementsAre(2, 0, 1));
  EXPECT_THAT(terms.find("Yorkshire houses"), IsEmpty());
  EXPECT_THAT(terms.find("an old house and an old house"), ElementsAre(3)) << "once";
  EXPECT_THAT(terms.entries()[2].forms, ElementsAre("Haus", "Gebäude"));
}

TEST(Terminology, FindsACapitalizedTermAtTheBeginningOfALine) {
  const Terminology terms("house\tHaus\nUS\tUSA\n", "terms.tsv");
  EXPECT_EQ(terms.occurrences("House and us").front().place, (TextSpan{0, 5}));
  EXPECT_THAT(terms.find("House and us"), ElementsAre(0));
  EXPECT_THAT(terms.find("The House"), IsEmpty());
  EXPECT_THAT(terms.find("US house"), ElementsAre(1, 0));
}

TEST(Terminology, FindsTermsOfScriptsWithoutSpaces) {
  const Terminology terms("東京\tTokio\n京都\tKyoto\n", "terms.tsv");
  EXPECT_THAT(terms.find("私は東京に行く"), ElementsAre(0));
  EXPECT_THAT(terms.find("東京都"), ElementsAre(0)) << "the first one of two that overlap";
}

TEST(Terminology, GathersTheFormsOfEqualTerms) {
  const Terminology terms("a b\tx\r\n\na  b\ty\tz\n", "terms.tsv");
  ASSERT_EQ(terms.entries().size(), 1u);
  EXPECT_THAT(terms.entries()[0].forms, ElementsAre("x", "y", "z"));
}

TEST(WordTokens, StandBetweenSpacesOfUnicode) {
  EXPECT_THAT(word_tokens("my\u00A0old\u3000friend\u202F!"),
              ElementsAre("my", "old", "friend", "!"));
}

TEST(Terminology, PassesOverWhatProgramsAddToTexts) {
  const Terminology terms("\xEF\xBB\xBFhouse\tHaus\r\n\r\n\t\n", "terms.tsv");
  EXPECT_THAT(terms.find("my house"), ElementsAre(0));
}

TEST(Terminology, ComparesTermsAsTheVocabularyNormalizesThem) {
  const auto pieces = load_vocabulary(FUSELAGE_TEST_DATA "/vocab.spm");
  const Terminology terms("M\u00FCller\tM\nMu\u0308ller\tN\nｏｌｄ friend\tF\n", "terms.tsv",
                          pieces.get());
  ASSERT_EQ(terms.entries().size(), 2u) << "two forms of one term";
  for (const char* line :
       {"is M\u00FCller here", "is Mu\u0308ller here", "is \uFF2D\u00FCller here"})
    EXPECT_THAT(terms.find(line), ElementsAre(0)) << line;
  for (const char* line : {"old friend", "old\u00A0friend", "\uFF4Fld   friend", "an old friend"})
    EXPECT_THAT(terms.find(line), ElementsAre(1)) << line;
  // Text in pieces is compared as it is.
  const auto split =
      load_vocabulary(FUSELAGE_TEST_DATA "/vocab.spm", {.sentencepiece_encode = false});
  EXPECT_THAT(Terminology("M\u00FCller\tM\n", "t", split.get()).find("Mu\u0308ller"), IsEmpty());
}

TEST(Terminology, FindsPlacesWhereNormalizationChangesTheNumberOfWords) {
  const auto pieces = load_vocabulary(FUSELAGE_TEST_DATA "/vocab.spm");
  const Terminology terms("house\tHaus\nold friend\tF\n", "terms.tsv", pieces.get());
  const auto found = [&](std::string_view line) {
    std::vector<std::string> texts;
    for (const Terminology::Occurrence& each : terms.occurrences(line))
      texts.emplace_back(each.place ? each.place->of(line) : "?");
    return texts;
  };
  EXPECT_THAT(found("½ of my house… An old  friend\u2026\n"), ElementsAre("house", "old  friend"));
  EXPECT_THAT(found("my house and ho\x01use and an old friend"),
              ElementsAre("house", "?", "old friend"))
      << "a character that is removed joins two words";
  EXPECT_THAT(found("a ho\x01use, hou\x01se"), ElementsAre("?", "?"));
  EXPECT_THAT(found("old\u200B friend here"), ElementsAre("old\u200B friend"));
}

TEST(Terminology, RefusesWhatIsNoTerm) {
  const auto expect_error = [](const std::string& text, const std::string& message) {
    EXPECT_THAT([&] { Terminology(text, "terms.tsv"); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  expect_error("", "terms.tsv: there is no term in it");
  expect_error("a\tb\nhouse\n", "terms.tsv:2: 1 fields, 0 of them empty");
  expect_error("house\t\n", "terms.tsv:1: 2 fields, 1 of them empty");
  expect_error("a\t\xFF\n", "terms.tsv:1: the line is not valid UTF-8");
  std::string words, forms = "a";
  for (int i = 0; i < 65; ++i) {
    words += "w ";
    forms += "\tb";
  }
  expect_error(words + "\tx\n", "the term has 65 words and signs, but at most 32");
  expect_error(forms + "\n", "'a' has 65 forms of its translation, but at most 64");
}

}  // namespace
}  // namespace fuselage
