// Feeds arbitrary text to the graph parser. A parsed graph must survive printing and parsing.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "fuzz/check_message.h"
#include "graph/traversal.h"

namespace {

void require(bool condition, const char* what, const std::string& printed) {
  if (condition) return;
  std::fprintf(stderr, "%s\n%s", what, printed.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuselage;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Graph graph;
  try {
    graph = parse_graph(text, "input", all_ops());
  } catch (const Error& error) {
    check_message(error);
    return 0;
  }
  const std::string printed = print_graph(graph);
  // No handler: a printed graph must parse.
  const Graph again = parse_graph(printed, "printed", all_ops());
  require(same_graph(graph, again), "the printed graph is another graph", printed);
  require(structural_hash(graph) == structural_hash(again), "the hashes differ", printed);
  require(print_graph(again) == printed, "printing is not stable", printed);
  try {
    verify(graph);
  } catch (const Error& error) {
    check_message(error);
  }
  return 0;
}
