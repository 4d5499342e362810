#include <thread>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/executor/default_workers.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "backends/reference/backend.h"
#include "device_array.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "tests/backends/random_search.h"
#include "tests/backends/support.h"
#include "tests/passes/execute.h"
#include "tests/passes/random_graph.h"

namespace fuselage::cuda::executable_test {
namespace {

using support::linear_attention_model;
using support::random_sentences;
using support::run_trace;
using support::toy_model;
using support::ToyModel;
using support::Trace;

class CudaExecutableTest : public CudaTest {};

/// Compiles with the product's kernels.
std::unique_ptr<Executable> compile_with(Graph graph, const TensorMap& weights,
                                         CompileOptions options) {
  options.backend = "cuda";
  optimize(graph, options);
  return make_cuda_executable(split_by_binding_time(graph), weights, {}, cuda_kernels(),
                              kernel_registry());
}

void expect_near(const std::vector<Trace>& a, const std::vector<Trace>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    ASSERT_EQ(a[s].rows.size(), b[s].rows.size());
    for (std::size_t r = 0; r < a[s].rows.size(); ++r)
      for (std::size_t c = 0; c < a[s].rows[r].size(); ++c)
        ASSERT_NEAR(a[s].rows[r][c], b[s].rows[r][c], tolerance)
            << "sentence " << s << " row " << r << " column " << c;
  }
}

TEST_F(CudaExecutableTest, AgreesWithTheReferenceInterpreter) {
  const ToyModel model = toy_model(1);
  const auto reference = compile_reference(model.graph, model.weights);
  const auto expected = reference->make_worker();
  for (const char* passes : {"none", "all"}) {
    const auto cuda = compile_with(model.graph, model.weights, {.passes = passes});
    const auto worker = cuda->make_worker();
    for (const int count : {7, 2, 7}) {
      const auto sentences = random_sentences(2, count, 9);
      expect_near(run_trace(*worker, *cuda, sentences, 5, 12),
                  run_trace(*expected, *reference, sentences, 5, 12), 2e-5f);
    }
  }
}

TEST_F(CudaExecutableTest, CarriesMatricesFromStepToStep) {
  const ToyModel model = linear_attention_model(1);
  const auto reference = compile_reference(model.graph, model.weights);
  const auto sentences = random_sentences(2, 5, 7);
  for (const char* passes : {"none", "all"}) {
    const auto cuda = compile_with(model.graph, model.weights, {.passes = passes});
    expect_near(run_trace(*cuda->make_worker(), *cuda, sentences, 4, 9),
                run_trace(*reference->make_worker(), *reference, sentences, 4, 9), 1e-5f);
  }
}

TEST_F(CudaExecutableTest, RunsRandomGraphs) {
  for (unsigned seed = 30; seed < 34; ++seed) {
    const Graph graph = random_graph(seed);
    const TensorMap weights = random_weights(graph, seed, false);
    const auto reference = compile_reference(graph, weights);
    for (const char* passes : {"none", "all"}) {
      const auto cuda = compile_with(graph, weights, {.passes = passes});
      support::expect_same_runs(graph, *cuda, *reference, seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CudaExecutableTest, SearchesAsTheReferenceInterpreterDoes) {
  const SearchOptions options{.beam_size = 4, .max_length_factor = 2};
  const ToyModel model = toy_model(2);
  const Graph graph =
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .alignment = false});
  const auto sentences = random_sentences(3, 6, 8);
  const auto reference = compile_reference(graph, model.weights);
  const std::vector<NBest> expected = BeamSearch(*reference, options).search(sentences);
  for (const char* passes : {"none", "all"}) {
    const auto cuda = compile_with(graph, model.weights, {.passes = passes});
    BeamSearch search(*cuda, options);
    for (int i = 0; i < 2; ++i) {
      const std::vector<NBest> found = search.search(sentences);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t s = 0; s < found.size(); ++s) {
        ASSERT_FALSE(found[s].empty());
        EXPECT_EQ(found[s][0].words, expected[s][0].words) << passes << " sentence " << s;
        EXPECT_NEAR(found[s][0].score, expected[s][0].score, 1e-4f);
      }
    }
  }
}

TEST_F(CudaExecutableTest, ASmallModelIsFastestWithTwoWorkers) {
  const ToyModel model = toy_model(5);
  EXPECT_EQ(compile_with(model.graph, model.weights, {})->fastest_workers(), 2);
  EXPECT_GT(memory_bytes_per_second(), 1e11);
  constexpr double kH200 = 4.9e12;
  EXPECT_EQ(default_workers(std::size_t{60} << 20, kH200), 2);
  EXPECT_EQ(default_workers(std::size_t{6} << 30, kH200), 1);
  EXPECT_EQ(default_workers(std::size_t{1} << 30, 0.3e12), 1);
}

TEST_F(CudaExecutableTest, WorkersShareAnExecutable) {
  const ToyModel model = toy_model(5);
  const auto cuda = compile_with(model.graph, model.weights, {});
  const auto sentences = random_sentences(6, 4, 6);
  const std::vector<Trace> alone = run_trace(*cuda->make_worker(), *cuda, sentences, 2, 4);
  std::vector<std::vector<Trace>> results(2);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] {
      const auto worker = cuda->make_worker();
      for (int i = 0; i < 2; ++i) result = run_trace(*worker, *cuda, sentences, 2, 4);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) expect_near(result, alone, 0.0f);
}

}  // namespace
}  // namespace fuselage::cuda::executable_test
