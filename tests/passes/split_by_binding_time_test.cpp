#include "fuselage/passes/lowering/split_by_binding_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "execute.h"
#include "fuselage/graph/verifier.h"
#include "graph/traversal.h"
#include "support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Graph model() {
  return graph_of(R"(
graph "model"
%table = param() {name = "table", domain = words, dims = [4]}
%w = param() {name = "w", dims = [4, 4]}
%half = constant() {values = [0.5]}
%wide = matmul(%table, %w)
%x = select_rows(%wide) {via = [src.word]}
%keys = mul(%x, %half)
%start = mean_rows(%keys) {to = [src.sentence]}
%s = state(%start) {domain = parent}
%h = select_rows(%s) {via = [hyp.parent]}
%word = select_rows(%table) {via = [hyp.word]}
%n = add(%h, %word)
next(%s, %n)
%query = matmul(%n, %w)
%left = select_rows(%query) {via = [cross.left]}
%right = select_rows(%keys) {via = [cross.right]}
%score = head_dot(%left, %right) {heads = 1, scale = 0.5}
%a = segment_softmax(%score) {to = [cross.left]}
%context = mix_rows(%a, %keys) {to = [cross.left], via = [cross.right]}
%scaled = mul(%context, %half)
return start = %start, y = %scaled
)");
}

TEST(SplitByBindingTime, PutsEachNodeIntoTheProgramOfItsTime) {
  const Programs programs = split_by_binding_time(model());
  EXPECT_EQ(print_graph(programs.load), print_graph(graph_of(R"(
graph "model.load"
%table = param() {name = "table", domain = words, dims = [4]}
%w = param() {name = "w", dims = [4, 4]}
%wide = matmul(%table, %w)
return wide = %wide
)")));
  EXPECT_TRUE(same_graph(programs.source, graph_of(R"(
%wide = import() {name = "wide", domain = words, dims = [4]}
%half = constant() {values = [0.5]}
%x = select_rows(%wide) {via = [src.word]}
%keys = mul(%x, %half)
%start = mean_rows(%keys) {to = [src.sentence]}
return start = %start, keys = %keys
)"))) << print_graph(programs.source);
  EXPECT_TRUE(same_graph(programs.step, graph_of(R"(
%start = import() {name = "start", domain = sentence, dims = [4]}
%s = state(%start) {domain = parent}
%h = select_rows(%s) {via = [hyp.parent]}
%table = param() {name = "table", domain = words, dims = [4]}
%word = select_rows(%table) {via = [hyp.word]}
%n = add(%h, %word)
next(%s, %n)
%w = param() {name = "w", dims = [4, 4]}
%query = matmul(%n, %w)
%left = select_rows(%query) {via = [cross.left]}
%keys = import() {name = "keys", domain = src, dims = [4]}
%right = select_rows(%keys) {via = [cross.right]}
%score = head_dot(%left, %right) {heads = 1, scale = 0.5}
%a = segment_softmax(%score) {to = [cross.left]}
%context = mix_rows(%a, %keys) {to = [cross.left], via = [cross.right]}
%half = constant() {values = [0.5]}
%scaled = mul(%context, %half)
return y = %scaled
)"))) << print_graph(programs.step);
}

TEST(SplitByBindingTime, KeepsDeclarationsAndComputesTheSame) {
  const Graph graph = model();
  const Programs programs = split_by_binding_time(graph);
  for (const BindingTime time : {BindingTime::load, BindingTime::source, BindingTime::step}) {
    const Graph& part = program(programs, time);
    EXPECT_EQ(print_declarations(part), print_declarations(graph));
    EXPECT_TRUE(same_graph(part, parse_graph(print_graph(part), "printed", all_ops())));
    for (const NodeId id : part.nodes()) EXPECT_LE(part.binding(id), time);
  }
  const TensorMap weights = random_weights(graph, 1, /*special=*/false);
  EXPECT_EQ(difference(execute<float>(graph, weights, 1), execute<float>(programs, weights, 1), 0),
            "");
}

TEST(SplitByBindingTime, KeepsNamesLocationsAndProvenance) {
  Graph graph = model();
  graph.set_provenance(find_node(graph, "query"), {{"one", "two"}, {"rule"}});
  const Programs programs = split_by_binding_time(graph);
  const Node& query = programs.step.node(find_node(programs.step, "query"));
  EXPECT_EQ(query.provenance, graph.node(find_node(graph, "query")).provenance);
  EXPECT_EQ(query.location.line, graph.node(find_node(graph, "query")).location.line);
  const Node& keys = programs.step.node(find_node(programs.step, "keys"));
  EXPECT_EQ(keys.location.line, graph.node(find_node(graph, "keys")).location.line);
}

TEST(SplitByBindingTime, GivesCrossingValuesNamesOfTheirOwn) {
  // Two values are named like an output, one has no name, one has a name that cannot be written.
  Graph graph = graph_of(R"(
%table = param() {name = "table", domain = words, dims = [4]}
%y = tanh(%table)
%1 = neg(%table)
%b = abs(%table)
%p = select_rows(%y) {via = [src.word]}
%q = select_rows(%1) {via = [src.word]}
%r = select_rows(%b) {via = [src.word]}
%pq = add(%p, %q)
%pqr = add(%pq, %r)
return y = %pqr
)");
  graph.set_value_name(find_value(graph, "b"), "l1/ffn");
  const Programs programs = split_by_binding_time(graph);
  std::vector<std::string> names;
  for (const Output& output : programs.load.outputs()) names.push_back(output.name);
  EXPECT_THAT(names, ::testing::ElementsAre("y.2", "neg", "l1_ffn"));
  EXPECT_THAT(print_graph(programs.source), HasSubstr(R"(name = "l1_ffn")"));
}

TEST(SplitByBindingTime, ImportsWhatHasNoOperandsButIsKnownLater) {
  const Graph graph = graph_of(R"(
%p = position() {domain = src}
%s = select_rows(%p) {via = [cross.right]}
%y = sinusoid(%s) {dim = 4}
return y = %y
)");
  EXPECT_TRUE(same_graph(split_by_binding_time(graph).step, graph_of(R"(
%p = import() {name = "p", domain = src, dims = [], dtype = i32}
%s = select_rows(%p) {via = [cross.right]}
%y = sinusoid(%s) {dim = 4}
return y = %y
)")));
}

TEST(SplitByBindingTime, UsesTheNameOfAnOutputThatCrosses) {
  const Graph graph = graph_of(R"(
%table = param() {name = "table", domain = words, dims = [4]}
%t = tanh(%table)
%x = select_rows(%t) {via = [src.word]}
return cache = %t, x = %x, raw = %table
)");
  const Programs programs = split_by_binding_time(graph);
  EXPECT_TRUE(same_graph(programs.load, graph_of(R"(
%table = param() {name = "table", domain = words, dims = [4]}
%t = tanh(%table)
return cache = %t, raw = %table
)"))) << print_graph(programs.load);
  EXPECT_THAT(print_graph(programs.source),
              AllOf(HasSubstr(R"(import() {name = "cache")"), Not(HasSubstr("param"))));
}

}  // namespace
}  // namespace fuselage
