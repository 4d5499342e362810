#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/reference/backend.h"
#include "reference_kernels.h"
#include "tests/backends/random_search.h"
#include "tests/passes/execute.h"
#include "tests/passes/random_graph.h"

namespace fuselage::cuda {
namespace {

TEST(CudaExecutable, RunsRandomGraphsAsTheReferenceDoes) {
  for (unsigned seed = 8; seed < 20; ++seed) {
    const Graph graph = random_graph(seed);
    const TensorMap weights = random_weights(graph, seed, false);
    const auto reference = compile_reference(graph, weights);
    const auto cuda = make_cuda_executable(split_by_binding_time(graph), weights, {},
                                           reference_kernels(), reference_registry());
    support::expect_same_runs(graph, *cuda, *reference, seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace fuselage::cuda
