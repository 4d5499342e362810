#include "graph/traversal.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/graph_concepts.hpp>

#include "fuselage/ops/arithmetic/pointwise.h"
#include "graph/boost_view.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<BoostView>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<BoostView>));

constexpr std::string_view kDiamond = R"(
%x = import() {name = "x", domain = hyp, dims = [4]}
%w = param() {name = "w", dims = [4, 4]}
%a = matmul(%x, %w)
%b = sigmoid(%x)
%c = sub(%a, %b)
%d = mul(%c, %c)
%dead = neg(%x)
return out = %d
)";

std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> result;
  for (const NodeId id : nodes) result.push_back(graph.value(graph.result(id)).name);
  return result;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(BoostView, WalksLiveNodesAndOperandsInOrder) {
  Graph graph = graph_of(kDiamond);
  graph.remove_node(node_named(graph, "dead"));
  const BoostView view(graph);
  std::vector<NodeId> nodes;
  const auto [first, last] = vertices(view);
  std::copy(first, last, std::back_inserter(nodes));
  EXPECT_EQ(nodes, graph.nodes());
  EXPECT_EQ(num_vertices(view), graph.node_limit());

  const NodeId c = node_named(graph, "c");
  std::vector<std::string> targets;
  const auto [begin, end] = out_edges(c, view);
  for (auto edge = begin; edge != end; ++edge) {
    EXPECT_EQ(source(*edge, view), c);
    targets.push_back(graph.value(graph.result(target(*edge, view))).name);
  }
  EXPECT_THAT(targets, ElementsAre("a", "b"));

  // A repeated operand is two edges.
  const auto [one, past] = out_edges(node_named(graph, "d"), view);
  EXPECT_EQ(std::distance(one, past), 2);
  EXPECT_NE(*one, *std::next(one));
  EXPECT_EQ(target(*one, view), target(*std::next(one), view));
  EXPECT_EQ(out_degree(node_named(graph, "x"), view), 0u);
}

TEST(TopologicalOrder, KeepsNodesThatAreInOrder) {
  const Graph graph = graph_of(kDiamond);
  EXPECT_EQ(topological_order(graph), graph.nodes());
}

TEST(TopologicalOrder, PutsProducersFirstAfterEdits) {
  Graph graph = graph_of(kDiamond);
  const NodeId late = add_node(graph, op::Relu{}, {value_named(graph, "x")});
  graph.set_value_name(graph.result(late), "late");
  graph.replace_uses(value_named(graph, "b"), graph.result(late));
  graph.remove_node(node_named(graph, "b"));
  EXPECT_THAT(names(graph, topological_order(graph)),
              ElementsAre("x", "w", "a", "late", "c", "d", "dead"));
}

TEST(TopologicalOrder, FindsCycles) {
  Graph graph = graph_of(kDiamond);
  graph.set_operand({node_named(graph, "a"), 0}, value_named(graph, "d"));
  EXPECT_THAT(error_of<InternalError>([&] { topological_order(graph); }),
              HasSubstr("operand edges form a cycle"));
}

TEST(TopologicalOrder, OfNothingIsEmpty) { EXPECT_TRUE(topological_order(Graph()).empty()); }

TEST(Reachable, FollowsOperandsFromRoots) {
  const Graph graph = graph_of(kDiamond);
  const auto reached = [&graph](const std::vector<NodeId>& roots) {
    const std::vector<bool> marks = reachable(graph, roots);
    std::vector<NodeId> nodes;
    for (const NodeId id : graph.nodes())
      if (marks[id.index]) nodes.push_back(id);
    return names(graph, nodes);
  };
  EXPECT_THAT(reached(root_nodes(graph)), ElementsAre("x", "w", "a", "b", "c", "d"));
  EXPECT_THAT(reached({node_named(graph, "dead"), node_named(graph, "w")}),
              ElementsAre("x", "w", "dead"));
  EXPECT_THAT(reached({}), ElementsAre());
}

TEST(RootNodes, AreOutputsAndSinks) {
  const Graph graph = graph_of(R"(
%zero = constant() {values = [0], dims = [4]}
%h = state(%zero) {domain = parent}
%n = select_rows(%h) {via = [hyp.parent]}
next(%h, %n)
return state = %h
)");
  const std::vector<NodeId> roots = root_nodes(graph);
  ASSERT_EQ(roots.size(), 2u);
  EXPECT_EQ(roots[0], node_named(graph, "h"));
  EXPECT_TRUE(graph.node(roots[1]).has(Trait::sink));
}

void expect_same(const Graph& a, const Graph& b, bool same) {
  EXPECT_EQ(same_graph(a, b), same);
  EXPECT_EQ(same_graph(b, a), same);
  EXPECT_EQ(structural_hash(a) == structural_hash(b), same);
}

constexpr std::string_view kRich = R"(
%x = import() {name = "x", domain = source, dims = [4]}
%w = param() {name = "w", dims = [4, 4]}
%c = constant() {values = [0.5, 1, 2, -0], dims = [4]}
%zero = constant() {values = [0], dims = [4]}
%f = state(%zero) {domain = fwd}
%b = state(%zero) {domain = bwd}
%fx = select_rows(%x) {via = [fwd.source]}
%bx = select_rows(%x) {via = [bwd.source]}
%fy = sub(%f, %fx)
%by = sub(%b, %bx)
next(%f, %fy)
next(%b, %by)
%fs = collect(%fy)
%bs = collect(%by)
%m = matmul(%fs, %w)
%s = sub(%m, %bs)
%t = sub(%s, %c)
%best, %words = k_best(%t) {k = 2}
return best = %best, words = %words
)";

TEST(SameGraph, IgnoresNamesPlacesAndTheOrderOfUnrelatedNodes) {
  const std::string rich(kRich);
  const Graph graph = graph_of(rich);
  expect_same(graph, graph, true);
  const auto expect_equal = [&graph](const std::string& text) {
    SCOPED_TRACE(text);
    expect_same(graph, graph_of(text), true);
  };
  expect_equal("\n# moved\n" + rich);
  expect_equal("graph \"other\"\n" + rich);
  std::string renamed = rich;
  for (std::size_t at = 0; (at = renamed.find("%f", at)) != std::string::npos; at += 2)
    renamed.replace(at, 2, "%q");
  expect_equal(renamed);
  expect_equal(replaced(rich, "%m = matmul(%fs, %w)", "%m = matmul(%fs, %w) from \"a\" by \"b\""));
  expect_equal(replaced(rich, "next(%f, %fy)\nnext(%b, %by)", "next(%b, %by)\nnext(%f, %fy)"));
  expect_equal(replaced(rich, "%fs = collect(%fy)\n%bs = collect(%by)",
                        "%bs = collect(%by)\n%fs = collect(%fy)"));
  expect_equal(replaced(replaced(rich, "%w = param() {name = \"w\", dims = [4, 4]}\n", ""),
                        "%m = matmul", "%w = param() {name = \"w\", dims = [4, 4]}\n%m = matmul"));
}

TEST(SameGraph, SeesEveryChange) {
  const std::string rich(kRich);
  const Graph graph = graph_of(rich);
  constexpr std::pair<const char*, const char*> kChanges[] = {
      {"name = \"w\"", "name = \"v\""},
      {"{k = 2}", "{k = 3}"},
      {"0.5, 1", "0.5, 1.0000000001"},
      {"2, -0]", "2, 0]"},
      {"2, -0]", "2, nan]"},
      {"sub(%m, %bs)", "sub(%bs, %m)"},
      {"sub(%m, %bs)", "add(%m, %bs)"},
      {"sub(%m, %bs)", "sub(%m, %m)"},
      {"matmul(%fs, %w)", "matmul(%fs, %w) {transposed = true}"},
      {"matmul(%fs, %w)", "matmul(%bs, %w)"},
      {"{name = \"x\", domain = source, dims = [4]}",
       "{name = \"x\", domain = source, dims = [4], dtype = f32}\n%extra = neg(%x)"},
      {"next(%f, %fy)", "next(%f, %fx)"},
      {"return best = %best", "return first = %best"},
      {"best = %best, words = %words", "words = %words, best = %best"},
      {"best = %best, words = %words", "best = %best"},
      {"return best = %best, words = %words", "return best = %t, words = %words"},
      {"%x = import", "domain more = sentence\n%x = import"},
      {"%x = import", "map more : source -> vocab\n%x = import"},
      {"%x = import", "%extra = constant() {values = [0]}\n%x = import"},
  };
  for (const auto& [from, to] : kChanges) {
    SCOPED_TRACE(fmt::format("{} → {}", from, to));
    expect_same(graph, graph_of(replaced(rich, from, to)), false);
  }
}

TEST(SameGraph, SeesDeclaredDomains) {
  const auto text = [](std::string_view change, std::string_view by) {
    return parse_graph(replaced(std::string(kDomains), change, by), "a", all_ops());
  };
  const Graph graph = text("= sentence", "= sentence");
  expect_same(graph, text("vocabulary 5", "vocabulary 6"), false);
  expect_same(graph, text(" partial", ""), false);
  expect_same(graph, text(" reversed", ""), false);
  expect_same(graph, text("cross = pairs of hyp, source", "cross = pairs of source, hyp"), false);
  expect_same(graph, text("domain cross", "domain crossed"), false);
}

TEST(SameGraph, DomainOfAValueCounts) {
  const std::string text =
      "%x = import() {name = \"x\", domain = hyp, dims = [4]}\nreturn x = %x\n";
  expect_same(graph_of(text), graph_of(replaced(text, "domain = hyp", "domain = parent")), false);
  expect_same(graph_of(text), graph_of(replaced(text, "dims = [4]", "dims = [2, 2]")), false);
  expect_same(graph_of(text), graph_of(replaced(text, "[4]", "[4], dtype = i32")), false);
}

TEST(SameGraph, EditedGraphEqualsTheOneWrittenDown) {
  Graph graph = graph_of(kDiamond);
  const NodeId relu = add_node(graph, op::Relu{}, {value_named(graph, "x")});
  graph.replace_uses(value_named(graph, "b"), graph.result(relu));
  graph.remove_node(node_named(graph, "b"));
  expect_same(graph, graph_of(replaced(std::string(kDiamond), "sigmoid", "relu")), true);
}

}  // namespace
}  // namespace fuselage
