#include "text/words/frequency_list.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage::frequency_list_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(FrequencyList, IsInOrderOrCounted) {
  EXPECT_THAT(parse_frequency_list("b\na\n", "f.txt"), ElementsAre("b", "a"));
  EXPECT_THAT(parse_frequency_list("b\t2\na 10\n", "f.txt"), ElementsAre("a", "b"));
}

TEST(FrequencyList, MayBeginWithAByteOrderMarkAndEndWithBlankLines) {
  EXPECT_THAT(parse_frequency_list("\xEF\xBB\xBF"
                                   "b\r\na\r\n\r\n\n",
                                   "f.txt"),
              ElementsAre("b", "a"));
  EXPECT_THAT([] { parse_frequency_list("b\n\na\n", "f.txt"); },
              ThrowsMessage<Error>(HasSubstr("f.txt:2: 0 fields")));
}

}  // namespace
}  // namespace fuselage::frequency_list_test
