#include "fuselage/inspect/explain.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "tests/inspect/support.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TEST(Explain, TellsWhatARuleMatchedAndMade) {
  const std::vector<Verdict> verdicts = explain(swapped(), "swap-sum@dec.l1.sum");
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::fired);
  EXPECT_EQ(verdicts[0].stage, "swap");
  const std::string text = print_verdicts(verdicts);
  EXPECT_THAT(text, HasSubstr("swap_sum fired in swap at add 'dec.l1.sum'"));
  EXPECT_THAT(text, HasSubstr("matched %dec.l1.sum = add(%dec.l1.product, %b)"));
  EXPECT_THAT(text, HasSubstr("made    %dec.l1.sum = add(%b, %dec.l1.product)"));
}

TEST(Explain, NamesTheGuardThatRefuses) {
  const std::vector<Verdict> verdicts = explain(swapped(), "swap_sum@%logits");
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::refused);
  EXPECT_THAT(print_verdicts(verdicts),
              HasSubstr("guard   parameter_last: the second summand is computed"));
}

TEST(Explain, SaysWhereThePatternDoesNotFit) {
  const std::vector<Verdict> verdicts = explain(swapped(), "swap_sum@dec.l1.out");
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::no_fit);
  EXPECT_THAT(verdicts[0].reason, HasSubstr("it begins at add, this is tanh"));
}

TEST(Explain, SaysWhatIsNotAllowed) {
  const History history =
      swapped({NumericClass::approximates, 0.1, "the result of a sum that is another one"});
  EXPECT_THAT(history.rewrites, SizeIs(0));
  const std::vector<Verdict> verdicts = explain(history, "swap_sum@dec.l1.sum");
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::not_allowed);
  EXPECT_THAT(verdicts[0].numerics, HasSubstr("approximates: the result of a sum"));
}

TEST(Explain, AnswersForAllNodes) { EXPECT_THAT(explain(swapped(), "swap_sum@*"), SizeIs(2)); }

TEST(Explain, KnowsPassesThatAreFunctions) {
  const Graph graph = graph_of(R"(%a = param() {name = "a", dims = [4]}
%y = tanh(%a)
%z = tanh(%a)
%s = add(%y, %z)
return s = %s
)");
  const History history = trace(graph, make_optimizer({.passes = "merge_common_subexpressions"}));
  const std::vector<Verdict> verdicts = explain(history, "merge_common_subexpressions@z");
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].kind, Verdict::Kind::fired);
  EXPECT_EQ(explain(history, "merge_common_subexpressions@a")[0].kind, Verdict::Kind::no_fit);
}

TEST(Explain, RefusesWhatThereIsNot) {
  const History history = swapped();
  EXPECT_THAT([&] { explain(history, "swap_sums@logits"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'swap_sum'?")));
  EXPECT_THAT([&] { explain(history, "swap_sum@dec.l1.summ"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'dec.l1.sum'?")));
  for (const char* question : {"swap_sum", "@logits", "swap_sum@"})
    EXPECT_THAT([&] { explain(history, question); },
                ThrowsMessage<Error>(HasSubstr("write RULE@NODE")));
}

}  // namespace
}  // namespace fuselage
