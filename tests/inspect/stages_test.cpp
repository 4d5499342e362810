#include "fuselage/inspect/stages.h"

#include <gmock/gmock.h>

#include <set>

#include "fuselage/base/error.h"
#include "graph/traversal.h"
#include "inspect/lines.h"
#include "tests/inspect/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> names(const History& history) {
  std::vector<std::string> found;
  for (const Stage& stage : history.stages) found.push_back(stage.name);
  return found;
}

History twice_simplified() {
  return trace(small_model(), make_optimizer({.passes = "simplify,fold_constants,simplify"}));
}

TEST(Stages, KeepsTheGraphBehindEachPass) {
  const History history = swapped();
  EXPECT_THAT(names(history), ElementsAre("raw", "swap", "planned"));
  EXPECT_TRUE(same_graph(history.raw(), small_model()));
  EXPECT_FALSE(same_graph(history.raw(), history.stages[1].graph));
  EXPECT_TRUE(history.stages[1].record.changed);
  EXPECT_TRUE(same_graph(history.stages[1].graph, history.optimized()));
  ASSERT_EQ(history.rewrites.size(), 1u);
  EXPECT_EQ(history.rewrites[0].stage, 1u);
  EXPECT_EQ(history.rewrites[0].rule, "swap_sum");
  EXPECT_THAT(history.rewrites[0].matched,
              ElementsAre("%dec.l1.sum = add(%dec.l1.product, %b) : hyp f32[4]"));
  EXPECT_THAT(history.rewrites[0].made,
              ElementsAre("%dec.l1.sum = add(%b, %dec.l1.product) : hyp f32[4]"));
}

TEST(Stages, NumbersPassesThatRunTwice) {
  EXPECT_THAT(names(twice_simplified()),
              ElementsAre("raw", "simplify.1", "fold_constants", "simplify.2", "planned"));
}

TEST(Stages, AreFoundByNameNumberAndExpression) {
  const History history = twice_simplified();
  EXPECT_THAT(find_stages(history, "simplify"), ElementsAre(3));
  EXPECT_THAT(find_stages(history, "simplify.1"), ElementsAre(1));
  EXPECT_THAT(find_stages(history, "fold-constants"), ElementsAre(2));
  EXPECT_THAT(find_stages(history, "planned"), ElementsAre(4));
  EXPECT_THAT(find_stages(history, "simplify.*"), ElementsAre(1, 3));
  EXPECT_THAT(find_stages(history, "raw|fold.*"), ElementsAre(0, 2));
  EXPECT_THAT([&] { find_stages(history, "fold_constant"); },
              ThrowsMessage<Error>(HasSubstr("did you mean 'fold_constants'?")));
  EXPECT_THAT([&] { find_stages(history, "("); },
              ThrowsMessage<Error>(HasSubstr("neither the name of a stage")));
}

TEST(Stages, ProgramsKnowTheirNodesOfTheWholeGraph) {
  const History history = swapped();
  const Stage& planned = history.stages.back();
  std::set<std::string> keys;
  std::set<NodeId> whole;
  for (const StageNode& node : nodes_of(history, planned)) {
    EXPECT_TRUE(keys.insert(node.key).second) << node.key;
    whole.insert(node.whole);
    const Node& copy = node.graph->node(node.id);
    const Node& original = planned.graph.node(node.whole);
    ASSERT_EQ(copy.results.size(), original.results.size());
    for (std::size_t i = 0; i < copy.results.size(); ++i) {
      EXPECT_EQ(node.graph->value(copy.results[i]).type,
                planned.graph.value(original.results[i]).type);
      EXPECT_EQ(node.graph->value(copy.results[i]).name,
                planned.graph.value(original.results[i]).name);
    }
  }
  EXPECT_EQ(whole.size(), planned.graph.node_count());
}

TEST(Lines, LabelsDependOnNoOrder) {
  const Graph graph = graph_of(R"(%0 = param() {name = "a", dims = [4]}
%y = tanh(%0)
%1 = tanh(%y)
return y = %1
)");
  const Labels labels(graph);
  const std::vector<NodeId> nodes = graph.nodes();
  EXPECT_EQ(node_line(graph, nodes[0], labels),
            R"(%param#0 = param() {name = "a", dims = [4]} : f32[4])");
  EXPECT_EQ(node_line(graph, nodes[2], labels), "%tanh#2 = tanh(%y) : f32[4]");
}

TEST(Lines, ALayerIsWhatStandsBeforeTheLastDot) {
  EXPECT_EQ(layer_of("encoder.l1.matmul"), "encoder.l1");
  EXPECT_EQ(layer_of("encoder.l1.matmul.2"), "encoder.l1");
  EXPECT_EQ(layer_of("logits"), "");
  EXPECT_EQ(layer_of("logits.2"), "");
  EXPECT_EQ(layer_of(""), "");
}

}  // namespace
}  // namespace fuselage
