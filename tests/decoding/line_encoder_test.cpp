#include "decoding/lines/line_encoder.h"

#include <gmock/gmock.h>

#include "decoding/lines/line_reader.h"
#include "fuselage/base/error.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

using namespace std::string_view_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LineEncoderTest : public ::testing::Test {
 protected:
  std::unique_ptr<const Vocabulary> vocabulary_ = load_vocabulary(support::vocabularies()[0]);

  WordId id(std::string_view word) const { return vocabulary_->encode(word).front(); }
};

TEST_F(LineEncoderTest, AppendsTheEnd) {
  const LineEncoder encoder(*vocabulary_, {});
  const EncodedLine line = encoder.encode("▁Tom .", 0);
  EXPECT_THAT(line.words, ElementsAre(id("▁Tom"), id("."), vocabulary_->end_id()));
  EXPECT_THAT(line.oddities, IsEmpty());
  EXPECT_EQ(line.bytes, 9u);
}

TEST_F(LineEncoderTest, ReversesAllButTheEnd) {
  const LineEncoder encoder(*vocabulary_, {.right_left = true});
  EXPECT_THAT(encoder.encode("▁Tom .", 0).words,
              ElementsAre(id("."), id("▁Tom"), vocabulary_->end_id()));
}

TEST_F(LineEncoderTest, CutsTheBeginningOfWhatIsTooLongForEitherDirection) {
  for (const bool right_left : {false, true}) {
    const LineEncoder encoder(*vocabulary_, {.max_length = 2, .right_left = right_left});
    const EncodedLine line = encoder.encode("▁Tom . ▁ist", 0);
    EXPECT_THAT(line.words, ElementsAre(id("▁Tom"), vocabulary_->end_id()));
    EXPECT_THAT(line.oddities, ElementsAre(LineOddity::too_long));
  }
}

TEST_F(LineEncoderTest, SaysWhatIsOdd) {
  const LineEncoder encoder(*vocabulary_, {});
  for (const std::string_view line : {""sv, "   "sv, "\r"sv}) {
    EXPECT_TRUE(encoder.encode(line, 0).empty());
    EXPECT_THAT(encoder.encode(line, 0).oddities, ElementsAre(LineOddity::empty));
  }
  EXPECT_THAT(encoder.encode("a\0b"sv, 0).oddities, ElementsAre(LineOddity::invalid_text));
  EXPECT_THAT(encoder.encode("\xFF", 0).words,
              ElementsAre(vocabulary_->unknown_id(), vocabulary_->end_id()));
}

TEST_F(LineEncoderTest, ALineBreakInsideCountsAsASpace) {
  const LineEncoder encoder(*vocabulary_, {.texts = true});
  const EncodedLine line = encoder.encode("▁Tom .", 0);
  for (const std::string_view broken : {"▁Tom\n."sv, "▁Tom \n\n.\n"sv}) {
    const EncodedLine encoded = encoder.encode(broken, 0);
    EXPECT_EQ(encoded.words, line.words);
    EXPECT_EQ(encoded.texts, line.texts);
    EXPECT_THAT(encoded.oddities, ElementsAre(LineOddity::line_break));
  }
  for (const std::string_view ended : {"▁Tom .\n"sv, "▁Tom .\r\n"sv, "▁Tom .\n\n"sv}) {
    EXPECT_EQ(encoder.encode(ended, 0).words, line.words);
    EXPECT_THAT(encoder.encode(ended, 0).oddities, IsEmpty());
  }
  EXPECT_THAT(encoder.encode("\n", 0).oddities, ElementsAre(LineOddity::empty));
  EXPECT_THAT(encoder.encode("\xFF\n.", 0).oddities,
              ElementsAre(LineOddity::invalid_text, LineOddity::line_break));
}

TEST_F(LineEncoderTest, CutsALineOfTooManyBytesBetweenCharacters) {
  const LineEncoder encoder(*vocabulary_, {});
  std::string line = "▁Tom ";
  line.resize(kMaxLineBytes - 2, ' ');
  EXPECT_THAT(encoder.encode(line + ".", 0).words,
              ElementsAre(id("▁Tom"), id("."), vocabulary_->end_id()));
  EXPECT_THAT(encoder.encode(line + "..", 0).oddities, IsEmpty());
  for (const std::string_view end : {"▁", "▁ist", "  ."}) {
    const EncodedLine cut = encoder.encode(line + std::string(end), 0);
    EXPECT_THAT(cut.words, ElementsAre(id("▁Tom"), vocabulary_->end_id()));
    EXPECT_THAT(cut.oddities, ElementsAre(LineOddity::too_large));
  }
}

TEST_F(LineEncoderTest, IsStrictWhenAsked) {
  const LineEncoder encoder(*vocabulary_, {.max_length = 3, .strict = true});
  EXPECT_THAT([&] { encoder.encode("a\0b"sv, 6); },
              ::testing::ThrowsMessage<Error>(HasSubstr("line 7 is not valid UTF-8")));
  EXPECT_THAT([&] { encoder.encode("a b c", 0); },
              ::testing::ThrowsMessage<Error>(HasSubstr("line 1 has 4 tokens")));
  EXPECT_THAT([&] { encoder.encode(std::string(kMaxLineBytes + 1, ' '), 2); },
              ::testing::ThrowsMessage<Error>(HasSubstr("line 3 has more than 131072 bytes")));
  EXPECT_TRUE(encoder.encode("", 0).empty());
}

TEST(ValidText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(valid_text("a\0b"sv), "a\uFFFDb");
  EXPECT_EQ(valid_text("\xC3\xA4 \xE2\x96\x81 \xF0\x9F\x98\x80"),
            "\xC3\xA4 \xE2\x96\x81 \xF0\x9F\x98\x80");
  EXPECT_EQ(valid_text("\xC3"), "\uFFFD");
  EXPECT_EQ(valid_text("\xC0\x80"), "\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(valid_text("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(valid_text("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(LineNotes, CountsLinesAndNamesTheFirst) {
  LineNotes notes(1000);
  notes.add(2, {LineOddity::too_long});
  notes.add(8, {LineOddity::too_long});
  notes.add(0, {LineOddity::empty});
  notes.add(4, {LineOddity::too_large});
  notes.add(5, {LineOddity::line_break});
  notes.add(6, {LineOddity::line_break});
  EXPECT_THAT(notes.notes(), ElementsAre("1 line was empty (line 1)",
                                         "2 lines longer than 1000 tokens were cut (lines 3, 9)",
                                         "1 line longer than 131072 bytes was cut (line 5)",
                                         "2 lines had line breaks inside, which count as spaces "
                                         "(lines 6, 7)"));
}

TEST(LineNotes, CountsALineOfPartsOnce) {
  LineNotes notes(1000);
  for (const std::size_t number : {0, 4, 4, 5}) notes.add(number, {LineOddity::too_long});
  EXPECT_THAT(notes.notes(),
              ElementsAre("3 lines longer than 1000 tokens were cut (lines 1, 5, 6)"));
}

TEST(LineNotes, NamesTenLinesAtMost) {
  LineNotes notes(1000, "a.txt");
  for (std::size_t i = 0; i < 12; ++i) notes.add(i, {LineOddity::empty});
  EXPECT_THAT(notes.notes(), ElementsAre("12 lines of a.txt were empty (lines 1, 2, 3, 4, 5, 6, 7, "
                                         "8, 9, 10, …)"));
}

}  // namespace
}  // namespace fuselage
