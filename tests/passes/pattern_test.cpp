#include "fuselage/passes/rewrite/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"
#include "fuselage/passes/rewrite/rule.h"
#include "support.h"

namespace fuselage::pattern_test {
namespace {

constexpr Capture kA{"a"}, kB{"b"}, kSum{"sum"}, kC{"c"}, kW{"w"}, kX{"x"};

using match::any, match::constant, match::number, match::op;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Graph example() {
  return graph_of(R"(
%table = param() {name = "table", domain = words, dims = [4]}
%x = select_rows(%table) {via = [src.word]}
%w = param() {name = "w", dims = [4]}
%half = constant() {values = [0.5]}
%t = tanh(%x)
%s = add(%t, %w)
%r = add(%w, %t)
%twice = add(%t, %t)
%h = mul(%s, %half)
return h = %h, r = %r, twice = %twice
)");
}

TEST(Pattern, CapturesOperandsByName) {
  const Graph graph = example();
  const auto found = op<op::Mul>({op<op::Add>({any(kA), any(kB)}).named(kSum), constant(kC)})
                         .find(graph, find_node(graph, "h"));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0][kA], find_value(graph, "t"));
  EXPECT_EQ(found[0][kB], find_value(graph, "w"));
  EXPECT_EQ(found[0][kSum], find_value(graph, "s"));
  EXPECT_EQ(found[0][kC], find_value(graph, "half"));
  EXPECT_THAT(found[0].nodes(), ElementsAre(find_node(graph, "h"), find_node(graph, "s")));
  EXPECT_THAT(found[0].consumed(), ElementsAre(find_node(graph, "s")));
  EXPECT_THROW(found[0][Capture{"d"}], InternalError);
}

TEST(Pattern, KeepsTheOrderOfOperandsUnlessTold) {
  const Graph graph = example();
  const NodeId r = find_node(graph, "r");
  EXPECT_THAT(op<op::Add>({op<op::Tanh>(), any(kB)}).find(graph, r), IsEmpty());
  const auto found = op<op::Add>({op<op::Tanh>(), any(kB)}).commutative().find(graph, r);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0][kB], find_value(graph, "w"));
  EXPECT_THAT(op<op::Add>({any(kA), any(kB)}).commutative().find(graph, r), SizeIs(2));
}

TEST(Pattern, AsksForOneValueUnderOneName) {
  const Graph graph = example();
  const Pattern same = op<op::Add>({any(kA), any(kA)});
  EXPECT_THAT(same.find(graph, find_node(graph, "twice")), SizeIs(1));
  EXPECT_THAT(same.find(graph, find_node(graph, "s")), IsEmpty());
}

TEST(Pattern, TellsNumbersAndSignsOfZeroApart) {
  const Graph graph = graph_of(R"(
%w = param() {name = "w", dims = [2]}
%c = constant() {values = [-0, -0], dims = [2]}
%y = add(%w, %c)
return y = %y
)");
  const NodeId y = find_node(graph, "y");
  EXPECT_THAT(op<op::Add>({any(kW), number(-0.0)}).find(graph, y), SizeIs(1));
  EXPECT_THAT(op<op::Add>({any(kW), number(0)}).find(graph, y), IsEmpty());
  EXPECT_THAT(op<op::Add>({number(-0.0), any(kW)}).find(graph, y), IsEmpty());
}

TEST(Pattern, CountsOperands) {
  const Graph graph = graph_of(R"(
%w = param() {name = "w", dims = [2]}
%y = concat(%w, %w, %w)
return y = %y
)");
  const NodeId y = find_node(graph, "y");
  EXPECT_THAT(op<op::Concat>({any(kA), any(kB)}).find(graph, y), IsEmpty());
  EXPECT_THAT(op<op::Concat>({any(kA), any(kB)}).variadic().find(graph, y), SizeIs(1));
  EXPECT_THAT(op<op::Concat>().find(graph, y), SizeIs(1));
  EXPECT_THAT(op<op::Concat>().having(op<op::Param>()).find(graph, y), SizeIs(3));
}

TEST(Pattern, LooksAsDeepAsItSays) {
  EXPECT_EQ(op<op::Neg>().depth(), 1u);
  EXPECT_EQ(op<op::Neg>({any(kX)}).depth(), 2u);
  EXPECT_EQ(op<op::Concat>().having(op<op::Neg>({any(kX)})).depth(), 3u);
}

TEST(Guards, RefuseInnerNodesWithOtherUsers) {
  const Graph graph = example();
  const Rule rule{.name = "rule", .pattern = op<op::Add>({op<op::Tanh>(), any(kW)})};
  const auto found = rule.pattern.find(graph, find_node(graph, "s"));
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Refusal> refusals = ask_guards(rule, found[0]);
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_EQ(refusals[0].rule, "rule");
  EXPECT_EQ(refusals[0].guard, "single_use");
  EXPECT_THAT(refusals[0].node, HasSubstr("add 's'"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("tanh 't'"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("has 3 other uses"));

  const Rule relaxed{.name = "rule", .pattern = op<op::Add>({op<op::Tanh>().shared(), any(kW)})};
  EXPECT_THAT(all_guards(relaxed), IsEmpty());
}

TEST(Guards, RefuseWorkOnMoreRows) {
  const Graph graph = graph_of(R"(
%table = param() {name = "table", domain = words, dims = [4]}
%t = tanh(%table)
%y = select_rows(%t) {via = [src.word]}
return y = %y
)");
  const Rule rule{
      .name = "rule", .pattern = op<op::SelectRows>({op<op::Tanh>()}), .guards = {same_rows()}};
  const auto found = rule.pattern.find(graph, find_node(graph, "y"));
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Refusal> refusals = ask_guards(rule, found[0]);
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_THAT(refusals[0].reason, HasSubstr("words f32[4]"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("src f32[4]"));
}

}  // namespace
}  // namespace fuselage::pattern_test
