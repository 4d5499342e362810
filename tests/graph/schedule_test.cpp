#include "graph/schedule.h"

#include "fuselage/graph/verifier.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// "fwd: h new next all": the loop's name and the nodes, by result name or by op.
std::vector<std::string> scheduled(const Graph& graph) {
  std::vector<std::string> items;
  for (const ScheduleItem& item : schedule(graph)) {
    std::string text;
    if (item.scan.valid()) text = graph.domain(item.scan).name + ":";
    for (const NodeId id : item.nodes) {
      const Node& node = graph.node(id);
      if (!text.empty()) text += " ";
      text += node.results.empty() ? std::string(node.op->name) : graph.value(node.results[0]).name;
    }
    items.push_back(text);
  }
  return items;
}

TEST(Schedule, TwoIndependentScansAreTwoItems) {
  const Graph graph = graph_of(R"(
%x = import() {name = "x", domain = source, dims = [2]}
%zero = constant() {values = [0], dims = [2]}
%f = state(%zero) {domain = fwd}
%b = state(%zero) {domain = bwd}
%fx = select_rows(%x) {via = [fwd.source]}
%bx = select_rows(%x) {via = [bwd.source]}
%fy = add(%f, %fx)
%by = add(%b, %bx)
next(%f, %fy)
next(%b, %by)
%fs = collect(%fy)
%bs = collect(%by)
%both = concat(%fs, %bs)
return both = %both
)");
  EXPECT_THAT(scheduled(graph),
              ElementsAre("x", "zero", "fwd: f fx fy next fs", "bwd: b bx by next bs", "both"));
}

TEST(Schedule, ScanWaitsForTheScanThatItReads) {
  const Graph graph = graph_of(R"(
%zero = constant() {values = [0], dims = [2]}
%b = state(%zero) {domain = bwd}
%x = import() {name = "x", domain = source, dims = [2]}
%f = select_rows(%x) {via = [fwd.source]}
%fs = collect(%f)
%g = neg(%fs)
%bx = select_rows(%g) {via = [bwd.source]}
%by = add(%b, %bx)
next(%b, %by)
%bs = collect(%by)
)");
  verify(graph);
  EXPECT_THAT(scheduled(graph), ElementsAre("zero", "x", "fwd: f fs", "g", "bwd: b bx by next bs"));
}

TEST(Schedule, NodesBetweenTheBodyStayOutside) {
  const Graph graph = graph_of(R"(
%x = import() {name = "x", domain = source, dims = [2]}
%a = select_rows(%x) {via = [fwd.source]}
%w = param() {name = "w", dims = [2, 2]}
%y = matmul(%x, %w)
%b = matmul(%a, %w)
%s = collect(%b)
return y = %y, s = %s
)");
  EXPECT_THAT(scheduled(graph), ElementsAre("x", "w", "fwd: a b s", "y"));
}

TEST(Schedule, WithoutScansItIsTheTopologicalOrder) {
  const Graph graph = graph_of(R"(
%i = constant() {values = [1], dims = [2]}
%h = state(%i) {domain = parent}
%y = select_rows(%h) {via = [hyp.parent]}
next(%h, %y)
%k = history(%y) {domain = prefix}
)");
  EXPECT_THAT(scheduled(graph), ElementsAre("i", "h", "y", "next", "k"));
  EXPECT_TRUE(schedule(Graph()).empty());
}

TEST(Schedule, ScanThatDependsOnItselfIsAnError) {
  const Graph graph = graph_of(R"(
%x = import() {name = "x", domain = source, dims = [2]}
%a = select_rows(%x) {via = [fwd.source]}
%s = collect(%a)
%n = neg(%s)
%b = select_rows(%n) {via = [fwd.source]}
)");
  EXPECT_THAT(error_of<InternalError>([&] { schedule(graph); }),
              HasSubstr("a scan depends on its own results"));
}

TEST(Schedule, ScanOfANode) {
  const Graph graph = graph_of(R"(
%zero = constant() {values = [0], dims = [2]}
%h = state(%zero) {domain = bwd}
next(%h, %h)
%s = collect(%h)
%n = neg(%s)
)");
  const DomainId bwd = graph.find_domain("bwd");
  EXPECT_EQ(scan_of(graph, node_named(graph, "h")), bwd);
  EXPECT_EQ(scan_of(graph, graph.nodes()[2]), bwd);
  EXPECT_EQ(scan_of(graph, node_named(graph, "s")), bwd);
  EXPECT_FALSE(scan_of(graph, node_named(graph, "n")).valid());
  EXPECT_FALSE(scan_of(graph, node_named(graph, "zero")).valid());
}

}  // namespace
}  // namespace fuselage
