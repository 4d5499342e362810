#include "base/numbers/truth.h"

#include <gmock/gmock.h>

namespace fuselage {
namespace {

TEST(Truth, IsThatOfYaml) {
  for (const char* text : {"true", "True", "TRUE", "yes", "Yes", "on", "ON", "y", "Y"})
    EXPECT_EQ(parse_truth(text), true) << text;
  for (const char* text : {"false", "False", "FALSE", "no", "NO", "off", "Off", "n", "N"})
    EXPECT_EQ(parse_truth(text), false) << text;
  for (const char* text :
       {"", "1", "0", "tRUE", "yES", "oFf", "maybe", "trues", "falsehood", " no"})
    EXPECT_EQ(parse_truth(text), std::nullopt) << text;
}

}  // namespace
}  // namespace fuselage
