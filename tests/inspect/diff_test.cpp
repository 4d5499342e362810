#include "fuselage/inspect/diff.h"

#include <gmock/gmock.h>

#include "tests/inspect/support.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Diff, ShowsWhatTookThePlaceOfWhat) {
  const History history = swapped();
  const StageDiff diff = diff_stages(history, history.stages[0], history.stages[1]);
  EXPECT_EQ(print_diff(diff, history.stages[0], history.stages[1]),
            "# diff raw swap: 1 nodes added, 1 removed, 0 changed\n"
            "- %dec.l1.sum = add(%dec.l1.product, %b) : hyp f32[4]\n"
            "+ %dec.l1.sum = add(%b, %dec.l1.product) : hyp f32[4]  # from dec.l1.sum by "
            "swap_sum\n");
}

TEST(Diff, IsEmptyBetweenEqualStages) {
  const History history = swapped();
  const StageDiff diff = diff_stages(history, history.stages[0], history.stages[0]);
  EXPECT_THAT(diff.lines, IsEmpty());
  EXPECT_EQ(diff.added + diff.removed + diff.changed, 0u);
}

TEST(Diff, OfThePlanShowsWhatProgramsImport) {
  const History history = swapped();
  const StageDiff diff = diff_stages(history, history.stages[1], history.stages[2]);
  EXPECT_EQ(diff.removed, 0u);
  EXPECT_THAT(print_diff(diff, history.stages[1], history.stages[2]),
              HasSubstr(R"(+ %enc.mean = import() {name = "enc.mean", domain = sentence)"));
}

}  // namespace
}  // namespace fuselage
