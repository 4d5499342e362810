#include "text/utf8.h"

#include <gtest/gtest.h>

namespace fuselage {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, KnowsItsSequences) {
  EXPECT_EQ(utf8_sequence_length("a"), 1u);
  EXPECT_EQ(utf8_sequence_length("ä"), 2u);
  EXPECT_EQ(utf8_sequence_length("▁b"), 3u);
  EXPECT_EQ(utf8_sequence_length("😀"), 4u);
  for (const std::string_view text : {"\0"sv, "\x80"sv, "\xC0\x80"sv, "\xC3"sv, "\xED\xA0\x80"sv,
                                      "\xF4\x90\x80\x80"sv, "\xF0\x80\x80\x80"sv, "\xFF"sv}) {
    EXPECT_EQ(utf8_sequence_length(text), 0u);
    EXPECT_FALSE(is_valid_utf8(text));
  }
  EXPECT_TRUE(is_valid_utf8(""));
  EXPECT_TRUE(is_valid_utf8("aä▁😀"));
  EXPECT_FALSE(is_valid_utf8("aä▁\xF0\x9F\x98"));
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a😀b", 5), "a😀");
  for (const std::size_t bytes : {1, 2, 3, 4}) EXPECT_EQ(utf8_prefix("a😀b", bytes), "a");
  EXPECT_EQ(utf8_prefix("😀", 3), "");
  EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);
}

}  // namespace
}  // namespace fuselage
