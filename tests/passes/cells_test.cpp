// The gates of any cell become one node, though no pattern names one.

#include <gtest/gtest.h>

#include <algorithm>

#include "execute.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/pipeline.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {
namespace {

struct Cell {
  const char* name;
  const char* equations;  ///< over the inputs below; ends in outputs
};

/// Products as wide as four gates; x stands for the state, too.
constexpr const char* kInputs = R"(fuselage.graph 1
graph "cell"
domain words = vocabulary 6
domain sentence = sentence
domain src = source of sentence
map src.word : src -> words
%table = param() {name = "table", domain = words, dims = [4]}
%W = param() {name = "W", dims = [4, 16]}
%U = param() {name = "U", dims = [4, 16]}
%b = param() {name = "b", dims = [16]}
%short = param() {name = "short", dims = [4]}
%one = constant() {values = [1]}
%x = select_rows(%table) {via = [src.word]}
%xW = matmul(%x, %W)
%sU = matmul(%x, %U)
)";

constexpr Cell kCells[] = {
    {"lstm", R"(%sum = add(%xW, %sU)
%affine = add(%sum, %b)
%gates = sigmoid(%affine)
%i = slice(%gates) {begin = 0, end = 4}
%f = slice(%gates) {begin = 4, end = 8}
%o = slice(%gates) {begin = 8, end = 12}
%raw = slice(%affine) {begin = 12, end = 16}
%g = tanh(%raw)
%keep = mul(%f, %x)
%take = mul(%i, %g)
%c = add(%keep, %take)
%squashed = tanh(%c)
%h = mul(%o, %squashed)
return c = %c, h = %h
)"},
    {"mlstm", R"(%m = mul(%xW, %sU)
%affine = add(%m, %b)
%i0 = slice(%affine) {begin = 0, end = 4}
%i = sigmoid(%i0)
%f0 = slice(%affine) {begin = 4, end = 8}
%f = sigmoid(%f0)
%o0 = slice(%affine) {begin = 8, end = 12}
%o = sigmoid(%o0)
%g0 = slice(%affine) {begin = 12, end = 16}
%g = tanh(%g0)
%keep = mul(%f, %x)
%take = mul(%i, %g)
%c = add(%keep, %take)
%squashed = tanh(%c)
%h = mul(%o, %squashed)
return c = %c, h = %h
)"},
    {"gru", R"(%sum = add(%xW, %sU)
%affine = add(%sum, %b)
%gates = sigmoid(%affine)
%r = slice(%gates) {begin = 0, end = 4}
%z = slice(%gates) {begin = 4, end = 8}
%sUx = slice(%sU) {begin = 8, end = 12}
%xWx = slice(%xW) {begin = 8, end = 12}
%reset = mul(%r, %sUx)
%raw = add(%xWx, %reset)
%h = tanh(%raw)
%n = sub(%one, %z)
%take = mul(%n, %h)
%keep = mul(%z, %x)
%new = add(%take, %keep)
return new = %new
)"},
    {"ssru", R"(%fx = slice(%xW) {begin = 0, end = 4}
%fb = add(%fx, %short)
%f = sigmoid(%fb)
%wx = slice(%xW) {begin = 4, end = 8}
%n = sub(%one, %f)
%keep = mul(%f, %x)
%take = mul(%n, %wx)
%c = add(%keep, %take)
%h = relu(%c)
return c = %c, h = %h
)"},
    {"highway", R"(%tx = slice(%xW) {begin = 0, end = 4}
%tb = add(%tx, %short)
%t = sigmoid(%tb)
%hx = slice(%xW) {begin = 4, end = 8}
%h = relu(%hx)
%n = sub(%one, %t)
%take = mul(%t, %h)
%carry = mul(%n, %x)
%y = add(%take, %carry)
return y = %y
)"},
};

Graph graph_of(const Cell& cell) {
  return parse_graph(std::string(kInputs) + cell.equations, cell.name, all_ops());
}

std::ptrdiff_t elementwise_nodes(const Graph& graph) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return node.has(Trait::elementwise) && graph.value(node.results[0]).type.domain != graph.none();
  });
}

class Cells : public ::testing::TestWithParam<Cell> {};

TEST_P(Cells, BecomeOneNodeWithTheSameBits) {
  Graph graph = graph_of(GetParam());
  verify(graph);
  const Graph before = graph;
  EXPECT_GT(elementwise_nodes(before), 5);
  run_passes(select_passes("narrow_slices,fuse_pointwise"), graph);
  EXPECT_EQ(elementwise_nodes(graph), 1) << print_graph(graph);
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const TensorMap weights = random_weights(before, seed, /*special=*/seed % 2 == 1);
    EXPECT_EQ(
        difference(execute<float>(before, weights, seed), execute<float>(graph, weights, seed), 0),
        "");
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, Cells, ::testing::ValuesIn(kCells),
                         [](const auto& cell) { return std::string(cell.param.name); });

}  // namespace
}  // namespace fuselage
