#include "text/pages/sentence_splitter.h"

#include <gmock/gmock.h>

#include <chrono>

#include "text/pages/sentence_boundaries.h"

namespace fuselage::sentence_splitter_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> split(std::string_view language, std::string_view text) {
  std::vector<std::string> sentences;
  for (const TextSpan& span : SentenceSplitter(language).split(text))
    sentences.emplace_back(span.of(text));
  return sentences;
}

TEST(SentenceSplitter, SplitsAtFullStopsQuestionAndExclamationMarks) {
  EXPECT_THAT(split("en", "It rains. Does it? Yes!  It does."),
              ElementsAre("It rains.", "Does it?", "Yes!", "It does."));
  EXPECT_THAT(split("en", "  one\nsentence \n over\r\nlines. Another  "),
              ElementsAre("one\nsentence \n over\r\nlines.", "Another"));
  EXPECT_THAT(split("en", ""), IsEmpty());
  EXPECT_THAT(split("en", " \n\u00A0\u2028 "), IsEmpty());
}

TEST(SentenceSplitter, KeepsNumbersAddressesAndNamesWhole) {
  EXPECT_THAT(split("en", "Pi is 3.14, not 3.2. See www.a.org/?Q=1&B=2.Then go on."),
              ElementsAre("Pi is 3.14, not 3.2.", "See www.a.org/?Q=1&B=2.Then go on."));
  EXPECT_THAT(split("en", "Use .NET 8. Then call Node.js. Fine."),
              ElementsAre("Use .NET 8.", "Then call Node.js.", "Fine."));
}

TEST(SentenceSplitter, KnowsEnglishAbbreviations) {
  EXPECT_THAT(
      split("en", "Mr. Smith met Dr.\nJones. He paid approx. $5, i.e. 4 euros, vs. Tom."),
      ElementsAre("Mr. Smith met Dr.\nJones.", "He paid approx. $5, i.e. 4 euros, vs. Tom."));
  EXPECT_THAT(split("en", "See No. 5 and Fig. 3. Is it? No. 5 men came. No. Never."),
              ElementsAre("See No. 5 and Fig. 3.", "Is it?", "No. 5 men came.", "No.", "Never."));
  EXPECT_THAT(
      split("en",
            "He left the U.S. Army. She left the U.S. She is at Smith Inc. now. They sell "
            "apples, etc. The rest is at 5 p.m. It is late."),
      ElementsAre("He left the U.S. Army.", "She left the U.S.", "She is at Smith Inc. now.",
                  "They sell apples, etc.", "The rest is at 5 p.m.", "It is late."));
  EXPECT_THAT(split("en", "It was the Casino. He passed the test. Stop. Go. All in."),
              ElementsAre("It was the Casino.", "He passed the test.", "Stop.", "Go.", "All in."));
}

TEST(SentenceSplitter, KnowsInitials) {
  EXPECT_THAT(
      split("en", "J. R. R. Tolkien wrote it. So did C.S. Lewis. So do I. He reads."),
      ElementsAre("J. R. R. Tolkien wrote it.", "So did C.S. Lewis.", "So do I.", "He reads."));
  EXPECT_THAT(split("en", "We need a plan B. Then we go."),
              ElementsAre("We need a plan B.", "Then we go."));
}

TEST(SentenceSplitter, LeavesMarksOfListsWithTheirEntries) {
  EXPECT_THAT(split("en", "1. Open the box. 2. Close it. IV. Rome. B. First"),
              ElementsAre("1. Open the box.", "2. Close it.", "IV. Rome.", "B. First"));
}

TEST(SentenceSplitter, ReadsQuotesAndBrackets) {
  EXPECT_THAT(split("en", "He said \"Go.\" She went. (It was late.) “Why?” he asked. 'No.' End."),
              ElementsAre("He said \"Go.\"", "She went.", "(It was late.)", "“Why?” he asked.",
                          "'No.'", "End."));
  EXPECT_THAT(split("de", "„Komm!“, rief er. „Ja.“ Sie kam. »Gut so!« sagte er."),
              ElementsAre("„Komm!“, rief er.", "„Ja.“", "Sie kam.", "»Gut so!« sagte er."));
  EXPECT_THAT(split("fr", "« Viens ! » dit-il. « Non. » Elle vint."),
              ElementsAre("« Viens ! » dit-il.", "« Non. »", "Elle vint."));
}

TEST(SentenceSplitter, ReadsEllipses) {
  EXPECT_THAT(split("en", "Well... maybe. And then… It ended… well… so. Hm... Yes."),
              ElementsAre("Well... maybe.", "And then…", "It ended… well… so.", "Hm...", "Yes."));
}

TEST(SentenceSplitter, KnowsGerman) {
  EXPECT_THAT(
      split("de", "Er kam am 3. Oktober. Das ist z.B. Wasser, z. B. Regen. Er ist 30. Sie auch."),
      ElementsAre("Er kam am 3. Oktober.", "Das ist z.B. Wasser, z. B. Regen.", "Er ist 30.",
                  "Sie auch."));
  EXPECT_THAT(
      split("de",
            "Karl V. herrschte im 16. Jahrhundert. Vgl. Abb. 3 bzw. Nr. 7. Das war der Test. "
            "Ende 1990. Punkt."),
      ElementsAre("Karl V. herrschte im 16. Jahrhundert.", "Vgl. Abb. 3 bzw. Nr. 7.",
                  "Das war der Test.", "Ende 1990.", "Punkt."));
}

TEST(SentenceSplitter, KnowsOtherLanguages) {
  EXPECT_THAT(
      split("fr", "M. Dupont habite p. ex. à Paris. Il a 3 ans av. J.-C. environ. Oui."),
      ElementsAre("M. Dupont habite p. ex. à Paris.", "Il a 3 ans av. J.-C. environ.", "Oui."));
  EXPECT_THAT(
      split("es", "El Sr. García vino. ¿Qué dijo? ¡Nada! La Sra. López, p. ej. María."),
      ElementsAre("El Sr. García vino.", "¿Qué dijo?", "¡Nada!", "La Sra. López, p. ej. María."));
  EXPECT_THAT(split("it", "Il sig. Rossi e la dott.ssa Bianchi. Ecco."),
              ElementsAre("Il sig. Rossi e la dott.ssa Bianchi.", "Ecco."));
  EXPECT_THAT(split("pt", "O Sr. Silva mora na pág. 5. Ele lê."),
              ElementsAre("O Sr. Silva mora na pág. 5.", "Ele lê."));
  EXPECT_THAT(split("nl", "Dhr. Jansen en mevr. De Vries. Zij komen."),
              ElementsAre("Dhr. Jansen en mevr. De Vries.", "Zij komen."));
  EXPECT_THAT(split("ru", "Это проф. Иванов. В 1990 г. Он родился на ул. Ленина. Да."),
              ElementsAre("Это проф. Иванов.", "В 1990 г.", "Он родился на ул. Ленина.", "Да."));
  EXPECT_THAT(
      split("pl", "To jest dr. Nowak, tzn. Jan. Mieszka na ul. Długiej 3. Piętro. Tak."),
      ElementsAre("To jest dr. Nowak, tzn. Jan.", "Mieszka na ul. Długiej 3. Piętro.", "Tak."));
  EXPECT_THAT(split("cs", "Přišel 5. Května s MUDr. Novákem. Ale ne."),
              ElementsAre("Přišel 5. Května s MUDr. Novákem.", "Ale ne."));
  EXPECT_THAT(split("el", "Τι κάνεις; Είμαι καλά."), ElementsAre("Τι κάνεις;", "Είμαι καλά."));
}

TEST(SentenceSplitter, KnowsScriptsWithOtherMarks) {
  EXPECT_THAT(split("zh", "你好。你好吗？我很好！「谢谢。」他说。"),
              ElementsAre("你好。", "你好吗？", "我很好！", "「谢谢。」", "他说。"));
  EXPECT_THAT(split("ja", "「行く。」と言った。はい。"),
              ElementsAre("「行く。」と言った。", "はい。"));
  EXPECT_THAT(split("ar", "هل تتكلم العربية؟ نعم. أتكلم قليلا."),
              ElementsAre("هل تتكلم العربية؟", "نعم.", "أتكلم قليلا."));
  EXPECT_THAT(split("ur", "یہ ایک جملہ ہے۔ یہ دوسرا ہے۔"),
              ElementsAre("یہ ایک جملہ ہے۔", "یہ دوسرا ہے۔"));
  EXPECT_THAT(split("hi", "मैं घर जाता हूँ। तुम कहाँ हो?"), ElementsAre("मैं घर जाता हूँ।", "तुम कहाँ हो?"));
}

TEST(SentenceSplitter, HasCommonRulesForOtherLanguages) {
  for (const char* language : {"", "xx", "qqq_Latn", "not a language", "-", "\xFF"})
    EXPECT_THAT(split(language, "Uno. Duo J. Tri. Quattuor"),
                ElementsAre("Uno.", "Duo J. Tri.", "Quattuor"))
        << language;
}

TEST(SentenceSplitter, KnowsTheFormsOfCodes) {
  for (const char* code : {"de", "DE", "deu", "de-AT", "de_DE", "deu_Latn"})
    EXPECT_EQ(base_language(code), "de") << code;
  EXPECT_EQ(base_language("yue"), "yue");
  EXPECT_EQ(base_language(""), "");
}

TEST(SentenceSplitter, KeepsBytesThatAreNoText) {
  const std::string_view text("A \xFF\xFE.\0 B. \xE2\x80 C\xC2", 15);
  std::size_t end = 0;
  for (const TextSpan& span : SentenceSplitter("en").split(text)) {
    EXPECT_EQ(without_outer_space(text, {end, span.begin}).size(), 0u);
    end = span.end;
  }
  EXPECT_EQ(without_outer_space(text, {end, text.size()}).size(), 0u);
}

/// Seconds for a text of `count` repetitions.
double seconds(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  const auto start = std::chrono::steady_clock::now();
  split("de", text);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(SentenceSplitter, TakesLinearTime) {
  for (const char* part :
       {".", ". ", "A. ", "...  ,", "a.)", "「", "。」", "1. ", "\"", ". ,", "\xFF"}) {
    const double ratio = seconds(part, 400'000) / (seconds(part, 40'000) + 0.001);
    EXPECT_LT(ratio, 40) << part;
  }
}

}  // namespace
}  // namespace fuselage::sentence_splitter_test
