#include "text/placeholders/placeholders.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/base/error.h"
#include "text/words/word_vocabulary.h"

namespace fuselage::placeholders_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The vocabulary of the bundled models, which spells rare characters in bytes.
const Vocabulary& vocabulary() {
  static const auto loaded = load_vocabulary(FUSELAGE_SOURCE_DIR "/models/en-de/vocab.spm");
  return *loaded;
}

Placeholders::Line read(const std::string& line,
                        const std::vector<std::string>& words = {"XYZ", "BBC", "DVD"}) {
  return Placeholders(vocabulary(), words).put_into(line, vocabulary().encode(line));
}

TEST(Placeholders, StandForWhatTheVocabularyCannotWrite) {
  const std::pair<const char*, const char*> cases[] = {
      {"Tom is here.", "Tom is here."},
      {"", ""},
      {"It costs 5 €.", "It costs 5 XYZ."},
      {"It costs 5€, or 7£!", "It costs 5 XYZ, or 7 BBC!"},
      {"I love you 😀", "I love you XYZ"},
      {"👍🏽👨‍👩‍👧 Hello", "XYZ Hello"},
      {"Hello😀", "Hello XYZ"},
      {"I ♥ you ♥♥", "I XYZ you BBC"},
      // Names with letters of other languages, whole.
      {"I know Łukasz Nowak-Żeligowski.", "I know XYZ BBC."},
      {"“Ñandú”", "“XYZ”"},
      {"Он сказал hello.", "XYZ BBC hello."},
      // Signs that make a name or a formula of what is around them.
      {"C++ and C#, or F#.", "XYZ and BBC, or DVD."},
      {"Edit my_file.txt (#tag, @tom).", "Edit XYZ (BBC, DVD)."},
      {"AT&T", "XYZ"},
      {"Q & A, 20% of R&D", "Q & A, 20% of XYZ"},
      {"20 °C", "20 XYZ"},
      {"$5", "XYZ 5"},
      {"[1]", "XYZ 1 BBC"},
      // Names end at dashes, quotes and brackets, but not at apostrophes.
      {"My friend—Łukasz—came.", "My friend— XYZ —came."},
      {"“Łukasz”…friend(Ñandú)", "“XYZ”…friend(BBC)"},
      {"O’Żel, d'Żel", "XYZ, BBC"},
      // Addresses.
      {"Mail a.b@example.org!", "Mail XYZ!"},
      {"Mail—a.b@example.org—now!", "Mail— XYZ —now!"},
      {"a@example.org—b@example.org", "XYZ — BBC"},
      {"۝http://a.b/", "XYZ"},
      {"See (https://example.org/a,b?c), www.example.org.", "See (XYZ), BBC."},
      {"url:https://example.org/a–b_(ł)", "url:XYZ)"},
      // What the model writes by itself.
      {"Äpfel – “7” or ‘8’ — X-ray…", "Äpfel – “7” or ‘8’ — X-ray…"}};
  for (const auto& [line, expected] : cases) {
    const Placeholders::Line got = read(line);
    EXPECT_EQ(got.text.text(), expected);
    EXPECT_EQ(without_placeholders(got.text.text(), got.used).text(), line);
  }
}

TEST(Placeholders, AreOthersThanTheWordsOfTheLine) {
  EXPECT_EQ(read("XYZ is 5 €, 6 € and 7 €.").text.text(), "XYZ is 5 BBC, 6 DVD and 7 €.")
      << "there is no further one";
  EXPECT_EQ(read("5 €", {}).text.text(), "5 €");
  EXPECT_EQ(read("ＸＹＺ or 𝐁𝐁𝐂: 5 €").text.text(), "ＸＹＺ or 𝐁𝐁𝐂: 5 DVD")
      << "read as XYZ and BBC";
}

TEST(Placeholders, LeaveWhatIsGiven) {
  const Placeholders placeholders(vocabulary(), {"XYZ", "BBC", "DVD"});
  const auto text = [&](const std::string& line, const LineContext& context) {
    return placeholders.put_into(line, vocabulary().encode(line), context).text.text();
  };
  EXPECT_EQ(text("5 €", {.translation = "(ＸＹＺ)\nBBC", .terms = {}}), "5 DVD");
}

TEST(Placeholders, ComeBackAsTranslationsOfTerms) {
  const std::string line = "5€ for @Jan and € 1, €—Jan";
  const LineContext context{
      .translation = "",
      .terms = {
          {{1, 4}, "Euro"}, {{10, 13}, "Johann"}, {{18, 23}, "ein Euro"}, {{25, 28}, "Euro"}}};
  const Placeholders::Line read = Placeholders(vocabulary(), {"XYZ", "BBC", "DVD"})
                                      .put_into(line, vocabulary().encode(line), context);
  ASSERT_EQ(read.text.text(), "5 XYZ for BBC and € 1, DVD —Jan") << "'€ 1' is more than a part";
  EXPECT_EQ(without_placeholders("BBC – 5 XYZ", read.used).text(), "@Jan – 5 Euro");
  EXPECT_EQ(read.text.to_first({2, 5}).of(line), "€");
}

// Names and addresses end where the words of a script have no spaces between.
TEST(Placeholders, AreNotWholeSentences) {
  std::string words = "</s>\n<unk>\nXYZ\nBBC\n";
  for (const char* word : {"我", "叫", "住", "在", "，", "。", "a", "b", ".", "@", ":", "/"})
    words += fmt::format("{}\n", word);
  const auto chinese = parse_word_vocabulary(words, "txt", "v.txt", {});
  const auto text = [&](const std::string& line) {
    return Placeholders(*chinese, {"XYZ", "BBC"}).put_into(line, chinese->encode(line)).text.text();
  };
  EXPECT_EQ(text("我叫龘龘，我住在京。"), "我叫 XYZ，我住在 BBC。");
  EXPECT_EQ(text("我在https://a.b/a，我在a@a.b。"), "我在 XYZ，我在 BBC。");
}

TEST(Placeholders, ComeBackWhereTheTranslationHasThem) {
  const Placeholders::Line line = read("5€ is @tom");
  ASSERT_EQ(line.text.text(), "5 XYZ is BBC");
  const std::pair<const char*, const char*> cases[] = {{"BBC ist 5 XYZ", "@tom ist 5€"},
                                                       {"BBCs XYZe", "@toms €"},
                                                       {"XYZ 5 XYZ", "€ 5€"},
                                                       {"BBC (XYZ)", "@tom (€)"},
                                                       {"nothing", "nothing"},
                                                       {"", ""},
                                                       {"DVD ist 5  XYZ", "DVD ist 5  €"},
                                                       {"…XYZ", "…€"}};
  for (const auto& [translation, expected] : cases)
    EXPECT_EQ(without_placeholders(translation, line.used).text(), expected);
}

// A space between two placeholders is of one of them only.
TEST(Placeholders, MayBeSideBySide) {
  const Placeholders::Line line = read("♥a and a😀");
  ASSERT_EQ(line.text.text(), "XYZ a and a BBC");
  EXPECT_EQ(without_placeholders("XYZ BBC", line.used).text(), "♥😀");
  EXPECT_EQ(without_placeholders("XYZBBC", line.used).text(), "♥😀");
  EXPECT_EQ(without_placeholders("a BBC XYZ a", line.used).text(), "a😀 ♥a");
  EXPECT_EQ(without_placeholders("\xFF XYZ \xFF BBC", line.used).text(), "\xFF ♥ \xFF 😀");
}

// A space that was put beside a number is not beside a letter.
TEST(Placeholders, StandAlone) {
  const Placeholders::Line line = read("He paid $5 and left.");
  ASSERT_EQ(line.text.text(), "He paid XYZ 5 and left.");
  EXPECT_EQ(without_placeholders("Er gab XYZ 5 und ging.", line.used).text(),
            "Er gab $5 und ging.");
  EXPECT_EQ(without_placeholders("Er gab 5 XYZ und ging.", line.used).text(),
            "Er gab 5 $ und ging.");
}

TEST(Placeholders, AreBesideDashes) {
  const Placeholders::Line line = read("friend—Łukasz—came");
  ASSERT_EQ(line.text.text(), "friend— XYZ —came");
  EXPECT_EQ(without_placeholders("Freund— XYZ —kam", line.used).text(), "Freund—Łukasz—kam");
  EXPECT_EQ(without_placeholders("Freund – XYZ – kam", line.used).text(), "Freund – Łukasz – kam");
}

TEST(Placeholders, AreNotLongerWords) {
  const Placeholders::Line line = read("I love tomatoes 😀", {"Tom"});
  ASSERT_EQ(line.text.text(), "I love tomatoes Tom");
  const std::pair<const char*, const char*> cases[] = {
      {"Tomaten Tom", "Tomaten 😀"}, {"AtomTom, Tom", "AtomTom, 😀"},   {"Toms", "😀"},
      {"TomTomTom", "😀😀😀"},         {"Tom이었습니다", "😀이었습니다"}, {"الTom", "ال😀"},
      {"我有Tom。", "我有😀。"},     {"Tom我有我有", "😀我有我有"}};
  for (const auto& [translation, expected] : cases)
    EXPECT_EQ(without_placeholders(translation, line.used).text(), expected);
}

TEST(Placeholders, AreInGivenBeginnings) {
  const Placeholders::Line line = read("5€ is 3 € and @tom");
  ASSERT_EQ(line.text.text(), "5 XYZ is 3 BBC and DVD");
  const std::pair<const char*, const char*> cases[] = {{"5€ sind", "5 XYZ sind"},
                                                       {"@tom hat 3 €", "DVD hat 3 BBC"},
                                                       {"3 €, 4 €", "3 BBC, 4 BBC"},
                                                       {"nothing", "nothing"},
                                                       {"", ""}};
  for (const auto& [beginning, expected] : cases) {
    const std::string got = with_placeholders(beginning, line.used);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(without_placeholders(got, line.used).text(), beginning);
  }
}

TEST(Placeholders, PlacesAreThoseOfTheOtherText) {
  const std::string source = "5€ is @tom now";
  const Placeholders::Line line = read(source);
  const std::string& text = line.text.text();
  ASSERT_EQ(text, "5 XYZ is BBC now");
  const auto expect_part = [&](const char* part, const char* of_first) {
    const TextSpan span{text.find(part), text.find(part) + std::string(part).size()};
    EXPECT_EQ(line.text.to_first(span).of(source), of_first) << part;
  };
  expect_part("5", "5");
  expect_part("XYZ", "€");
  expect_part("Y", "€");
  expect_part("is", "is");
  expect_part("BBC now", "@tom now");
  expect_part("now", "now");
  expect_part("5 XYZ is BBC now", "5€ is @tom now");
  const std::string translation = "BBC ist 5 XYZ jetzt";
  const ReplacedText restored = without_placeholders(translation, line.used);
  ASSERT_EQ(restored.text(), "@tom ist 5€ jetzt");
  for (const auto& [part, expected] : std::vector<std::pair<std::string, std::string>>{
           {"BBC", "@tom"}, {"ist", "ist"}, {"5", "5"}, {"XYZ", "€"}, {"jetzt", "jetzt"}}) {
    const std::size_t at = translation.find(part);
    EXPECT_EQ(restored.to_text({at, at + part.size()}).of(restored.text()), expected);
  }
}

TEST(Placeholders, AreWordsOfTheVocabulary) {
  const auto expect_error = [](const std::vector<std::string>& words, const char* message) {
    EXPECT_THAT([&] { Placeholders(vocabulary(), words); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  expect_error({""}, "the placeholder '' must be a word");
  for (const char* const word : {"\xF0", "XYZ\xE2\x82"}) expect_error({word}, "is not valid UTF-8");
  expect_error({"Łuk"}, "spells the placeholder 'Łuk' in bytes");
  expect_error({"a b"}, "the placeholder 'a b' must be a word");
  expect_error({"XYZ", "XY"}, "the placeholder 'XY' begins the placeholder 'XYZ'");
}

TEST(Placeholders, GiveBackRandomLines) {
  const std::vector<std::string> parts{
      "a",   "Tom", " ",  "  ",     "é",      "€", "😀", "@", "#",       "/", "://", ".",      "www",
      "XYZ", "BBC", "猫", "\u200D", "\uFE0F", "Ä", "1", "_", "e\u0301", "(", "”",   "\u06DD", "—"};
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::string line;
    for (std::size_t size = random() % 12; size > 0; --size) line += parts[random() % parts.size()];
    const Placeholders::Line got = read(line);
    ASSERT_EQ(without_placeholders(got.text.text(), got.used).text(), line);
    const TextSpan whole{0, got.text.text().size()};
    ASSERT_EQ(got.text.to_first(whole), (TextSpan{0, line.size()})) << line;
  }
}

// The time is linear in the size of a line, also where it has no spaces.
TEST(Placeholders, LongLines) {
  std::string line;
  for (int i = 0; i < 20000; ++i) line += "猫";
  EXPECT_EQ(read(line).text.text(), "XYZ");
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "a ♥ ";
  EXPECT_EQ(read(many).used.size(), 3u);
}

}  // namespace
}  // namespace fuselage::placeholders_test
