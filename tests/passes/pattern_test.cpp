#include "passes/rewrite/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "passes/rewrite/rule.h"
#include "support.h"

namespace fuselage {
namespace {

using match::any, match::constant, match::number, match::one_of, match::op;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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
  const auto found = op("mul", {op("add", {any("a"), any("b")}).named("sum"), constant("c")})
                         .find(graph, find_node(graph, "h"));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["a"], find_value(graph, "t"));
  EXPECT_EQ(found[0]["b"], find_value(graph, "w"));
  EXPECT_EQ(found[0]["sum"], find_value(graph, "s"));
  EXPECT_EQ(found[0]["c"], find_value(graph, "half"));
  EXPECT_THAT(found[0].nodes(), ElementsAre(find_node(graph, "h"), find_node(graph, "s")));
  EXPECT_THAT(found[0].consumed(), ElementsAre(find_node(graph, "s")));
  EXPECT_THROW(found[0]["d"], InternalError);
}

TEST(Pattern, KeepsTheOrderOfOperandsUnlessTold) {
  const Graph graph = example();
  const NodeId r = find_node(graph, "r");
  EXPECT_THAT(op("add", {op("tanh"), any("b")}).find(graph, r), IsEmpty());
  const auto found = op("add", {op("tanh"), any("b")}).commutative().find(graph, r);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["b"], find_value(graph, "w"));
  EXPECT_THAT(op("add", {any("a"), any("b")}).commutative().find(graph, r), SizeIs(2));
}

TEST(Pattern, AsksForOneValueUnderOneName) {
  const Graph graph = example();
  const Pattern same = op("add", {any("a"), any("a")});
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
  EXPECT_THAT(op("add", {any("w"), number(-0.0)}).find(graph, y), SizeIs(1));
  EXPECT_THAT(op("add", {any("w"), number(0)}).find(graph, y), IsEmpty());
  EXPECT_THAT(op("add", {number(-0.0), any("w")}).find(graph, y), IsEmpty());
}

TEST(Pattern, CountsOperands) {
  const Graph graph = graph_of(R"(
%w = param() {name = "w", dims = [2]}
%y = concat(%w, %w, %w)
return y = %y
)");
  const NodeId y = find_node(graph, "y");
  EXPECT_THAT(op("concat", {any("a"), any("b")}).find(graph, y), IsEmpty());
  EXPECT_THAT(op("concat", {any("a"), any("b")}).variadic().find(graph, y), SizeIs(1));
  EXPECT_THAT(op("concat").find(graph, y), SizeIs(1));
  EXPECT_THAT(op("concat").having(op("param")).find(graph, y), SizeIs(3));
}

TEST(Pattern, LooksAsDeepAsItSays) {
  EXPECT_EQ(op("neg").depth(), 1u);
  EXPECT_EQ(op("neg", {any("x")}).depth(), 2u);
  EXPECT_EQ(op("concat").having(op("neg", {any("x")})).depth(), 3u);
}

TEST(Guards, RefuseInnerNodesWithOtherUsers) {
  const Graph graph = example();
  const Rule rule{.name = "rule", .pattern = one_of({"add"}, {op("tanh"), any("w")})};
  const auto found = rule.pattern.find(graph, find_node(graph, "s"));
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Refusal> refusals = ask_guards(rule, found[0]);
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_EQ(refusals[0].rule, "rule");
  EXPECT_EQ(refusals[0].guard, "single_use");
  EXPECT_THAT(refusals[0].node, HasSubstr("add 's'"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("tanh 't'"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("has 3 other uses"));

  const Rule relaxed{.name = "rule", .pattern = op("add", {op("tanh").shared(), any("w")})};
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
      .name = "rule", .pattern = op("select_rows", {op("tanh")}), .guards = {same_rows()}};
  const auto found = rule.pattern.find(graph, find_node(graph, "y"));
  ASSERT_THAT(found, SizeIs(1));
  const std::vector<Refusal> refusals = ask_guards(rule, found[0]);
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_THAT(refusals[0].reason, HasSubstr("words f32[4]"));
  EXPECT_THAT(refusals[0].reason, HasSubstr("src f32[4]"));
}

}  // namespace
}  // namespace fuselage
