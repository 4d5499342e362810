// docs/add-an-op.md: its code is the example file, and the op runs.

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "docs/examples/hard_sigmoid.cpp"  // NOLINT: the example is a page, not a library
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"

namespace fuselage {
namespace {

/// A graph of one hard_sigmoid with these attributes.
Graph graph_with(const std::string& attributes) {
  static const bool registered = (fuselage_extension(), true);
  EXPECT_TRUE(registered);
  return parse_graph(
      "fuselage.graph 1\n%x = import() {name = \"x\", dims = [3]}\n%y = hard_sigmoid(%x)" +
          attributes + "\nreturn y = %y\n",
      "page", all_ops());
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
              ::testing::HasSubstr(
                  "```cpp\n" + read_file(source + "/docs/examples/hard_sigmoid.cpp") + "```\n"));
}

TEST(AddAnOp, TheExampleRuns) {
  EXPECT_THAT(evaluate(graph_with(""), {-9, 0, 1}), ::testing::ElementsAre(0, 0.5f, 0.75f));
  EXPECT_THAT(evaluate(graph_with(" {slope = 0.5}"), {-9, 0, 9}),
              ::testing::ElementsAre(0, 0.5f, 1));
}

TEST(AddAnOp, MisspeltAttributesAndASecondRegistrationAreRefused) {
  EXPECT_THROW(graph_with(" {slop = 0.5}"), Error);
  EXPECT_THAT([] { fuselage_extension(); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("'hard_sigmoid'")));
}

}  // namespace
}  // namespace fuselage
