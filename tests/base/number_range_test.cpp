#include "base/numbers/number_range.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "fuselage/base/shortlist_options.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(NumberRange, ReadsTheNumbersOfTheRangeOnly) {
  const NumberRange whole{1, 8}, above{0, 2, false, true};
  EXPECT_EQ(parse_number_in(whole, "8"), 8);
  for (const char* text : {"0", "9", "1.0", "1e0", "-1", "+1", " 1", "1 ", "", "x", "nan"})
    EXPECT_EQ(parse_number_in(whole, text), std::nullopt) << text;
  EXPECT_EQ(parse_number_in(above, "1.5"), 1.5);
  for (const char* text : {"0", "2.1", "inf", "1,5"})
    EXPECT_EQ(parse_number_in(above, text), std::nullopt) << text;
}

TEST(NumberRange, DescribesItself) {
  EXPECT_EQ((NumberRange{1, 1024}.description()), "a whole number from 1 to 1024");
  EXPECT_EQ((NumberRange{0, 1000, false, true}.description()), "a number above 0 and up to 1000");
}

ShortlistOptions parse(const std::vector<std::string>& values) { return parse_shortlist(values); }

TEST(ParseShortlist, TakesAPathAndLimits) {
  EXPECT_EQ(parse({"lex"}).path, "lex");
  EXPECT_EQ(parse({"lex"}).limits.first, 100);
  const ShortlistOptions limited = parse({"lex", "5", "6", "0.5"});
  EXPECT_EQ(limited.limits.first, 5);
  EXPECT_EQ(limited.limits.best, 6);
  EXPECT_EQ(limited.limits.threshold, 0.5);
  EXPECT_TRUE(limited.checksum);
  EXPECT_FALSE(parse({"lex.bin", "false"}).checksum);
}

TEST(ParseShortlist, RefusesOtherValues) {
  EXPECT_THAT(
      [] {
        parse({"lex", "-1"});
      },
      ThrowsMessage<Error>(HasSubstr("FIRST must be a number from 0 on, not '-1'")));
  EXPECT_THAT([] { parse({"lex", "1", "2", "x"}); }, ThrowsMessage<Error>(HasSubstr("PRUNE")));
  EXPECT_THAT([] { parse({}); }, ThrowsMessage<Error>(HasSubstr("not 0 values")));
}

}  // namespace
}  // namespace fuselage
