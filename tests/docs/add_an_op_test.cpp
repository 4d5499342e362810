// docs/add-an-op.md: its code is the example file, and the op runs by the reference evaluation.

#include <gmock/gmock.h>

#include "base/file.h"
#include "docs/examples/hard_sigmoid.cpp"  // NOLINT: the example is a page, not a library
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage {
namespace {

OpRegistry ops_with_example() {
  OpRegistry ops;
  ops.add(hard_sigmoid_ops());
  for (const OpDef* op : all_ops().all()) ops.add({op, 1});
  return ops;
}

/// A graph of one hard_sigmoid with these attributes.
Graph graph_with(const std::string& attributes) {
  return parse_graph(
      "fuselage.graph 1\n%x = import() {name = \"x\", dims = [3]}\n%y = hard_sigmoid(%x)" +
          attributes + "\nreturn y = %y\n",
      "page", ops_with_example());
}

std::vector<float> evaluate(const Graph& graph, std::vector<float> x) {
  const Node& node = graph.producer(graph.outputs()[0].value);
  Array<float> operand(1, std::ssize(x));
  operand.data = std::move(x);
  const RowTable rows(graph);
  EvalContext<float> context{.graph = graph, .node = node, .rows = rows};
  context.operands.push_back(&operand);
  context.results.emplace_back(1, operand.cols);
  node.op->evaluate_f32(context);
  return context.results[0].data;
}

TEST(AddAnOp, ThePageShowsTheExampleFile) {
  const std::string source = FUSELAGE_SOURCE_DIR;
  EXPECT_THAT(read_file(source + "/docs/add-an-op.md"),
              testing::HasSubstr("```cpp\n" +
                                 read_file(source + "/docs/examples/hard_sigmoid.cpp") + "```\n"));
}

TEST(AddAnOp, TheExampleRuns) {
  EXPECT_THAT(evaluate(graph_with(""), {-9, 0, 1}), testing::ElementsAre(0, 0.5f, 0.75f));
  EXPECT_THAT(evaluate(graph_with(" {slope = 0.5}"), {-9, 0, 9}), testing::ElementsAre(0, 0.5f, 1));
}

TEST(AddAnOp, MisspeltAttributesAndBadValuesAreRefused) {
  EXPECT_THROW(graph_with(" {slop = 0.5}"), Error);
  EXPECT_THROW(graph_with(" {slope = -1.0}"), Error);
}

}  // namespace
}  // namespace fuselage
