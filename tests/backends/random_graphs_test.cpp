#include "backends/reference/backend.h"
#include "fuselage/backends/compile.h"
#include "tests/backends/random_search.h"
#include "tests/passes/execute.h"
#include "tests/passes/random_graph.h"

namespace fuselage {
namespace {

TEST(RandomGraphsOnTheCpu, GiveTheReferenceResults) {
  for (unsigned seed = 50; seed < 70; ++seed) {
    const Graph graph = random_graph(seed);
    const TensorMap weights = random_weights(graph, seed, false);
    const auto reference = compile_reference(graph, weights);
    for (const char* passes : {"none", "all"}) {
      SCOPED_TRACE(passes);
      const auto cpu = compile(graph, weights, {.passes = passes});
      support::expect_same_runs(graph, *cpu, *reference, seed);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fuselage
