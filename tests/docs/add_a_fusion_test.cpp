// docs/add-a-fusion.md: its code is the example file, and the example does what the page says.

#include <gmock/gmock.h>

#include "base/files/file.h"
#include "docs/examples/fuse_swish.cpp"  // NOLINT: the example is a page, not a library
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "graph/traversal.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage::add_a_fusion_test {
namespace {

std::string page() { return read_file(std::string(FUSELAGE_SOURCE_DIR) + "/docs/add-a-fusion.md"); }

Graph parse(const std::string& text) {
  return parse_graph("fuselage.graph 1\ngraph \"page\"\n" + text, "page", all_ops());
}

/// The graphs that the page shows.
std::vector<Graph> graphs_of_page() {
  const std::string text = page();
  const std::string begin = "```text\ndomain", end = "```\n";
  std::vector<Graph> graphs;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += std::string("```text\n").size();
    graphs.push_back(parse(text.substr(at, text.find(end, at) - at)));
  }
  return graphs;
}

TEST(AddAFusion, ThePageShowsTheExampleFile) {
  const std::string file =
      read_file(std::string(FUSELAGE_SOURCE_DIR) + "/docs/examples/fuse_swish.cpp");
  EXPECT_THAT(page(), ::testing::HasSubstr("```cpp\n" + file + "```\n"));
}

TEST(AddAFusion, TheExampleDoesWhatThePageShows) {
  std::vector<Graph> graphs = graphs_of_page();
  ASSERT_EQ(graphs.size(), 2u);
  const PassRecord record = run_pass(fuse_swish(), graphs[0], {.verify_each_rewrite = true});
  EXPECT_EQ(record.rewrites.at("swish"), 1u);
  EXPECT_TRUE(same_graph(graphs[0], graphs[1])) << print_graph(graphs[0]);
}

TEST(AddAFusion, ItsGuardsRefuse) {
  Graph one_gate = parse(
      "domain sentence = sentence\n"
      "%x = import() {name = \"x\", dims = [4]}\n"
      "%g = sigmoid(%x)\n"
      "%r = import() {name = \"r\", domain = sentence, dims = [4]}\n"
      "%s = mul(%r, %g)\n"
      "%y = mul(%x, %g)\n"
      "return y = %y, s = %s\n");
  const PassRecord record = run_pass(fuse_swish(), one_gate);
  ASSERT_FALSE(record.changed);
  ASSERT_EQ(record.refusals.size(), 1u);
  EXPECT_EQ(record.refusals[0].guard, "single_use");
}

}  // namespace
}  // namespace fuselage::add_a_fusion_test
