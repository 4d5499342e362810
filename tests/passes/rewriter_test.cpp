#include "fuselage/passes/rewrite/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuselage/base/error.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "support.h"

namespace fuselage::rewriter_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Graph chain() {
  return graph_of(R"(
%w = param() {name = "w", dims = [4]}
%a = tanh(%w)
%b = neg(%a)
%c = relu(%b)
return y = %c
)");
}

TEST(Rewriter, RemovesWhatLosesItsLastUser) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  const NodeId b = find_node(graph, "b");
  const NodeId a = find_node(graph, "a");
  rewriter.begin("rule", std::vector{b});
  rewriter.replace(graph.result(b), find_value(graph, "w"));
  EXPECT_TRUE(graph.alive(b)) << "nodes go at the end of the rewrite";
  EXPECT_TRUE(rewriter.finish());
  EXPECT_FALSE(graph.alive(b));
  EXPECT_FALSE(graph.alive(a));
  verify(graph);
}

TEST(Rewriter, KeepsOutputsAndWhatOthersUse) {
  Graph graph = graph_of(R"(
%w = param() {name = "w", dims = [4]}
%a = tanh(%w)
%b = neg(%a)
%c = relu(%b)
return y = %c, a = %a
)");
  Rewriter rewriter(graph);
  const NodeId b = find_node(graph, "b");
  rewriter.begin("rule", std::vector{b});
  rewriter.replace(graph.result(b), find_value(graph, "w"));
  rewriter.finish();
  EXPECT_TRUE(graph.alive(find_node(graph, "a")));
}

TEST(Rewriter, RemovesNewNodesThatNothingUses) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  rewriter.begin("rule", {});
  const NodeId unused = rewriter.add_node(op::Tanh{}, {find_value(graph, "w")});
  rewriter.finish();
  EXPECT_FALSE(graph.alive(unused));
}

TEST(Rewriter, GivesNewNodesTheProvenanceLocationAndNameOfTheOld) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  const NodeId b = find_node(graph, "b");
  const std::uint32_t line = graph.node(b).location.line;
  rewriter.begin("first", std::vector{b, find_node(graph, "a")});
  const ValueId made = rewriter.add(op::Sigmoid{}, {find_value(graph, "w")});
  rewriter.replace(graph.result(b), made);
  rewriter.finish();
  const Node& node = graph.producer(made);
  EXPECT_THAT(node.provenance.origins, ElementsAre("b", "a"));
  EXPECT_THAT(node.provenance.rules, ElementsAre("first"));
  EXPECT_EQ(node.location.line, line);
  EXPECT_EQ(graph.value(made).name, "b");

  rewriter.begin("second", std::vector{find_node(graph, "c"), graph.value(made).producer});
  const ValueId again = rewriter.add(op::Swish{}, {find_value(graph, "w")});
  rewriter.replace(find_value(graph, "c"), again);
  rewriter.finish();
  EXPECT_THAT(graph.producer(again).provenance.origins, ElementsAre("c", "b", "a"));
  EXPECT_THAT(graph.producer(again).provenance.rules, ElementsAre("first", "second"));
}

TEST(Rewriter, CountsIncludedNodesAmongThoseThatNewOnesStandFor) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  rewriter.begin("rule", std::vector{find_node(graph, "b")});
  rewriter.include(find_node(graph, "a"));
  const ValueId made = rewriter.add(op::Sigmoid{}, {find_value(graph, "w")});
  rewriter.replace(find_value(graph, "b"), made);
  rewriter.finish();
  EXPECT_THAT(graph.producer(made).provenance.origins, ElementsAre("b", "a"));
  EXPECT_THAT(graph.producer(made).provenance.rules, ElementsAre("rule"));
}

TEST(Rewriter, NamesOriginsWithoutANameByOpAndIndex) {
  Graph graph = chain();
  graph.set_value_name(find_value(graph, "b"), "");
  EXPECT_THAT(origins_of(graph, NodeId{2}), ElementsAre("neg#2"));
}

TEST(Rewriter, TellsWhichNodesItTouched) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  const NodeId b = find_node(graph, "b");
  rewriter.begin("rule", std::vector{b});
  rewriter.replace(graph.result(b), find_value(graph, "w"));
  rewriter.finish();
  EXPECT_THAT(rewriter.take_touched(), ElementsAre(find_node(graph, "w"), find_node(graph, "c")));
  EXPECT_THAT(rewriter.take_touched(), IsEmpty());
}

TEST(Rewriter, CountsEditsAndRewrites) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  rewriter.begin("nothing", {});
  EXPECT_FALSE(rewriter.finish());
  EXPECT_EQ(rewriter.changes(), 0u);
  rewriter.begin("something", {});
  rewriter.set_operand({find_node(graph, "c"), 0}, find_value(graph, "a"));
  EXPECT_TRUE(rewriter.finish());
  EXPECT_GT(rewriter.changes(), 0u);
  EXPECT_THAT(rewriter.rewrites(), ElementsAre(std::pair("something", 1u)));
  EXPECT_THAT(graph.node(find_node(graph, "c")).provenance.rules, ElementsAre("something"));
}

TEST(Rewriter, EditsInsideOfRewritesOnly) {
  Graph graph = chain();
  Rewriter rewriter(graph);
  EXPECT_THROW(rewriter.add(op::Tanh{}, {find_value(graph, "w")}), InternalError);
  EXPECT_THROW(rewriter.replace(find_value(graph, "a"), find_value(graph, "w")), InternalError);
  EXPECT_THROW(rewriter.finish(), InternalError);
  rewriter.begin("rule", {});
  EXPECT_THROW(rewriter.begin("rule", {}), InternalError);
}

}  // namespace
}  // namespace fuselage::rewriter_test
