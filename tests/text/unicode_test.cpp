#include "text/unicode.h"

#include <gmock/gmock.h>

#include <string>

namespace fuselage::unicode_test {
namespace {

using ::testing::FieldsAre;

TEST(Characters, AreTheFirstAndTheLastOfATextWithErrors) {
  EXPECT_THAT(leading_character("ß猫"), FieldsAre(U'ß', 2));
  EXPECT_THAT(last_character("ß猫"), FieldsAre(U'猫', 3));
  EXPECT_THAT(last_character("a😀"), FieldsAre(U'😀', 4));
  for (const std::string text : {"\xE7\x8C", "\x80", "\xF0", "\xC3"}) {
    EXPECT_THAT(leading_character(text), FieldsAre(U'\uFFFD', 1)) << text;
    EXPECT_THAT(last_character(text), FieldsAre(U'\uFFFD', 1)) << text;
    EXPECT_THAT(last_character("猫" + text), FieldsAre(U'\uFFFD', 1)) << text;
  }
  EXPECT_THAT(leading_character(""), FieldsAre(0, 0));
  EXPECT_THAT(last_character(""), FieldsAre(0, 0));
}

TEST(Characters, ReplaceErrorsByTheLongestPartThatBeginsASequence) {
  EXPECT_EQ(with_replaced_errors("a\xE7\x8Cz\xF0\x9F\x98"), "a\uFFFDz\uFFFD");
  EXPECT_EQ(with_replaced_errors("\xC0\xAF\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(with_replaced_errors("ß猫😀"), "ß猫😀");
}

}  // namespace
}  // namespace fuselage::unicode_test
