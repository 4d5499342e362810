#include "decoding/translation_notes.h"

#include <gmock/gmock.h>

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Translation translation_of(std::size_t words, float log_probability) {
  Hypothesis hypothesis{.words = std::vector<std::int32_t>(words, 7),
                        .log_probability = log_probability};
  Translation translation;
  translation.n_best.push_back({"text", std::move(hypothesis)});
  return translation;
}

std::vector<std::string> notes_of(std::size_t words, float mean, bool skip_cost = false) {
  TranslationNotes notes({.max_length = 1000, .skip_cost = skip_cost});
  for (std::size_t line = 0; line < 10; ++line)
    notes.add(line, translation_of(words / 10, mean * static_cast<float>(words) / 10));
  return notes.notes();
}

TEST(TranslationNotes, TellThatAModelIsUnsure) {
  EXPECT_THAT(notes_of(200, -2), ElementsAre(HasSubstr("log-probability of a word is -2.00")));
  EXPECT_THAT(notes_of(200, -1.5), IsEmpty());
}

TEST(TranslationNotes, JudgeNoFewWordsAndNoLogits) {
  EXPECT_THAT(notes_of(90, -2), IsEmpty());
  EXPECT_THAT(notes_of(200, -2, true), IsEmpty());
}

TEST(TranslationNotes, CountNoEmptyTranslations) {
  TranslationNotes notes({.max_length = 1000});
  Translation empty = translation_of(1, 0);
  empty.n_best[0].text.clear();
  empty.oddities = {LineOddity::empty};
  for (std::size_t line = 0; line < 1000; ++line) notes.add(line, empty);
  notes.add(1000, translation_of(100, -200));
  EXPECT_THAT(notes.notes(),
              ElementsAre(HasSubstr("1000 lines"), HasSubstr("the model is unsure")));
}

}  // namespace
}  // namespace fuselage
