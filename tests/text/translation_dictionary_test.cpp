#include "text/terms/translation_dictionary.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "text/vocabulary.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TranslationDictionary, TranslatesItsWordsAndLeavesOthers) {
  const TranslationDictionary words("house\tHaus\r\n\nhouse\tGebäude\nNew York\tNeu York\n",
                                    "d.tsv");
  EXPECT_EQ(words.translate("house"), "Haus");
  EXPECT_EQ(words.translate("New York"), "Neu York");
  EXPECT_EQ(words.translate("House"), "House");
  EXPECT_EQ(TranslationDictionary().translate("x"), "x");
}

TEST(TranslationDictionary, PassesOverWhatProgramsAddToTexts) {
  EXPECT_EQ(TranslationDictionary("\xEF\xBB\xBFhouse\tHaus\n \n", "d.tsv").translate("house"),
            "Haus");
}

TEST(TranslationDictionary, ComparesWordsAsTheVocabularyNormalizesThem) {
  const auto pieces = load_vocabulary(FUSELAGE_TEST_DATA "/vocab.spm");
  const TranslationDictionary words("M\u00FCller\tKumpel\n", "d.tsv", pieces.get());
  for (const char* word : {"M\u00FCller", "Mu\u0308ller", "\uFF2D\u00FCller"})
    EXPECT_EQ(words.translate(word), "Kumpel") << word;
  EXPECT_EQ(words.translate("Mu\u0308hle"), "Mu\u0308hle") << "the text of the line";
}

TEST(TranslationDictionary, RefusesLinesThatAreNoPairs) {
  const auto expect_error = [](const char* text, const char* message) {
    EXPECT_THAT([&] { TranslationDictionary(text, "d.tsv"); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  expect_error("a\tb\nhouse\n", "d.tsv:2: 0 tabs");
  expect_error("a\tb\tc\n", "d.tsv:1: 2 tabs");
  expect_error("\tb\n", "d.tsv:1: 1 tabs");
  expect_error("a\t\n", "d.tsv:1: 1 tabs");
  expect_error("a\t\xC0\n", "d.tsv:1: the line is not valid UTF-8");
}

}  // namespace
}  // namespace fuselage
