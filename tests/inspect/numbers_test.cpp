#include "inspect/numbers.h"

#include <gtest/gtest.h>

namespace fuselage {
namespace {

TEST(Numbers, HaveThreeDigitsAndAUnit) {
  EXPECT_EQ(print_scaled(0, "B"), "0 B");
  EXPECT_EQ(print_scaled(0, ""), "0");
  EXPECT_EQ(print_scaled(999, "B"), "999 B");
  EXPECT_EQ(print_scaled(999.6, "B"), "1.00 kB");
  EXPECT_EQ(print_scaled(9216, "B"), "9.22 kB");
  EXPECT_EQ(print_scaled(53126136, "B"), "53.1 MB");
  EXPECT_EQ(print_scaled(634268280, "FLOP"), "634 MFLOP");
  EXPECT_EQ(print_scaled(8.2e9, "FLOP"), "8.20 GFLOP");
  EXPECT_EQ(print_scaled(2.5, ""), "2.50");
  EXPECT_EQ(print_scaled(1234567, ""), "1.23 M");
}

}  // namespace
}  // namespace fuselage
