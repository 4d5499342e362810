#include <gmock/gmock.h>

#include <algorithm>

#include "text/pages/long_sentence.h"
#include "text/pages/page.h"
#include "text/pages/readable_text.h"

namespace fuselage::plain_page_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Words between spaces; of words, eight bytes are a token.
std::size_t count_tokens(std::string_view text) {
  std::size_t tokens = 0, letters = 0;
  for (const char byte : text) {
    letters = byte == ' ' ? 0 : letters + 1;
    if (letters % 8 == 1) ++tokens;
  }
  return tokens;
}

std::vector<std::string> divided(std::string_view text, std::size_t max_tokens) {
  std::vector<std::string> parts;
  for (const TextSpan& part : divided_sentence(text, {0, text.size()}, max_tokens, count_tokens))
    parts.emplace_back(part.of(text));
  return parts;
}

TEST(LongSentence, IsCutAtClausesThenAtSpacesThenAnywhere) {
  EXPECT_THAT(divided("a b c d", 4), ElementsAre("a b c d"));
  EXPECT_THAT(divided("a b, c; d e f: g, h 10:30 k", 5),
              ElementsAre("a b, c;", "d e f:", "g, h 10:30 k"));
  EXPECT_THAT(divided("a b – c d — e f", 4), ElementsAre("a b –", "c d —", "e f"));
}

TEST(LongSentence, PrefersClausesToCommas) {
  EXPECT_THAT(divided("a, b c, d e f; g h", 4), ElementsAre("a, b c,", "d e f;", "g h"));
  EXPECT_THAT(divided("one  two three\nfour five six", 2),
              ElementsAre("one  two", "three\nfour", "five six"));
}

TEST(LongSentence, CutsWordsBetweenGraphemes) {
  const std::string word(100, 'x');
  const auto parts = divided(word, 2);
  std::string joined;
  for (const std::string& part : parts) {
    EXPECT_LE(count_tokens(part), 2u);
    joined += part;
  }
  EXPECT_EQ(joined, word);
  EXPECT_LE(parts.size(), 10u);
  std::string accents;
  for (int i = 0; i < 30; ++i) accents += "e\u0301";
  for (const std::string& part : divided(accents, 1)) EXPECT_TRUE(part.starts_with('e')) << part;
  EXPECT_THAT(divided("\xFF\xFE\xFF\xFE\xFF\xFE\xFF\xFE\xFF\xFE", 1).size(), 2u);
}

TEST(LongSentence, LosesNothing) {
  const std::string text = "Aa bb,  cc; dddddddddddddddddddd\u00A0ee, ff。gg — hh\tii";
  for (std::size_t most = 1; most < 8; ++most) {
    std::size_t end = 0;
    for (const TextSpan& part : divided_sentence(text, {0, text.size()}, most, count_tokens)) {
      EXPECT_TRUE(without_outer_space(text, {end, part.begin}).empty());
      EXPECT_LE(count_tokens(part.of(text)), most) << part.of(text);
      end = part.end;
    }
    EXPECT_EQ(end, text.size());
  }
}

// As placeholders, which are few: only the first word with a sign is short.
TEST(LongSentence, PartsMayHaveMoreTokensThanTheirPieces) {
  const auto count = [](std::string_view text) {
    const auto signs = static_cast<std::size_t>(std::ranges::count(text, '@'));
    return signs == 0 ? 1 : 1 + 4 * (signs - 1);
  };
  const std::string text = "@a @b @c @d @e @f @g";
  std::vector<std::string> parts;
  for (const TextSpan& part : divided_sentence(text, {0, text.size()}, 6, count))
    parts.emplace_back(part.of(text));
  EXPECT_THAT(parts, ElementsAre("@a", "@b @c", "@d", "@e @f", "@g"));
}

TEST(ReadableText, HasOneSpaceForEachRun) {
  EXPECT_EQ(readable_text("a \n\u00A0b\u3000c").text, "a b c");
}

TEST(ReadableText, LeavesOutCharactersWithoutWidth) {
  EXPECT_EQ(readable_text("go\u00ADing no\u2060w a\uFEFFnd he\u200Bre").text, "going now and here");
  EXPECT_EQ(readable_text("می\u200Cخواهم क्\u200Dष 👩\u200D🔬").text,
            "می\u200Cخواهم क्\u200Dष 👩\u200D🔬");
  EXPECT_EQ(readable_text("សួ\u200Bស្តី").text, "សួ\u200Bស្តី");
}

TEST(ReadableText, HasNoBullets) {
  const auto begin = [](std::string_view text) {
    return without_bullets(text, {0, text.size()}).begin;
  };
  EXPECT_EQ(begin("- a"), 2u);
  EXPECT_EQ(begin("> >  ## a"), 8u);
  EXPECT_EQ(begin("\u2022\u00A0a"), 5u);
  for (const char* text : {"-a", "a - b", "--", "", "#1 b"}) EXPECT_EQ(begin(text), 0u) << text;
}

TEST(ReadableText, FindsPlacesAgain) {
  const std::vector<std::size_t> places = {0, 1, 2, 3, 4, 6, 7};
  const ReadableText text = readable_text("a  b\u00ADc", places);
  EXPECT_EQ(text.text, "a bc");
  EXPECT_THAT(text.places, ElementsAre(0, 1, 2, 2, 3, 3, 4));
}

class PlainPages : public ::testing::Test {
 protected:
  std::unique_ptr<const Page> read(std::string text) const {
    return read_plain_page(std::move(text), {splitter_, 6, count_tokens});
  }

  SentenceSplitter splitter_{"en"};
};

/// The page with each sentence in brackets.
std::string bracketed(const Page& page) {
  std::vector<TranslatedSentence> sentences;
  for (const std::string& sentence : page.sentences()) sentences.push_back({"[" + sentence + "]"});
  return page.joined(sentences);
}

TEST_F(PlainPages, KeepWhatIsBetweenSentences) {
  EXPECT_EQ(bracketed(*read("  A bee.  C d!\r\n\r\n\tE\n- f\n\n---\n1.5\n")),
            "  [A bee.]  [C d!]\r\n\r\n\t[E]\n- [f]\n\n---\n1.5\n");
  EXPECT_EQ(bracketed(*read("A.\u2028B.\xC2\x85 C\r")), "[A.]\u2028[B.]\xC2\x85 [C]\r");
  EXPECT_EQ(bracketed(*read("\uFEFFA\u00ADb\u00AD \u200B")), "\uFEFF[Ab]\u00AD \u200B");
  EXPECT_EQ(bracketed(*read("")), "");
  EXPECT_THAT(read(" \n 12 !\n")->sentences(), IsEmpty());
}

TEST_F(PlainPages, DivideLongSentences) {
  EXPECT_EQ(bracketed(*read("Aa bb cc dd, ee ff gg hh  ii jj kk ll mm.")),
            "[Aa bb cc dd,] [ee ff gg hh ii jj] [kk ll mm.]");
}

TEST_F(PlainPages, KeepSentencesThatStayAsTheyAre) {
  for (const std::string text : {"go\u00ADing  home. \xFF Well,\n\u00A0yes.  ",
                                 "\uFEFFa  b\u200Bc. Dd  ee ff gg hh ii jj kk ll mm"}) {
    const auto page = read(text);
    std::vector<TranslatedSentence> same;
    for (const std::string& sentence : page->sentences()) same.push_back({sentence});
    EXPECT_EQ(page->joined(same), text);
  }
}

}  // namespace
}  // namespace fuselage::plain_page_test
