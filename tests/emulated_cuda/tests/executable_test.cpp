#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/runtime/device.h"
#include "backends/reference/backend.h"
#include "emulated_cuda/control.h"
#include "fuselage/base/error.h"
#include "reference_kernels.h"
#include "tests/backends/support.h"

namespace fuselage::cuda::executable_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::toy_model;
using support::ToyModel;
using support::Trace;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::unique_ptr<Executable> compile_toy(const ToyModel& model, bool eager = false) {
  return make_cuda_executable(split_by_binding_time(model.graph), model.weights, {.eager = eager},
                              reference_kernels(), reference_registry());
}

void expect_same(const std::vector<Trace>& a, const std::vector<Trace>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) ASSERT_EQ(a[s].rows, b[s].rows) << "sentence " << s;
}

TEST(CudaExecutable, RunsProgramsAsTheReferenceDoes) {
  const ToyModel model = toy_model(1);
  const auto sentences = random_sentences(2, 7, 9);
  const auto reference = compile_reference(model.graph, model.weights);
  const auto expected = run_trace(*reference->make_worker(), *reference, sentences, 5, 12);
  for (const bool eager : {true, false}) {
    const auto cuda = compile_toy(model, eager);
    const auto worker = cuda->make_worker();
    for (int i = 0; i < 3; ++i) expect_same(run_trace(*worker, *cuda, sentences, 5, 12), expected);
  }
}

TEST(CudaExecutable, AWorkerIsGoodForBatchesOfAnySize) {
  const ToyModel model = toy_model(3);
  const auto reference = compile_reference(model.graph, model.weights);
  const auto cuda = compile_toy(model);
  const auto worker = cuda->make_worker();
  const auto other = reference->make_worker();
  struct Batch {
    int sentences, longest, width, steps;
  };
  for (const Batch& batch : {Batch{2, 3, 2, 3}, Batch{9, 5, 1, 4}, Batch{1, 17, 4, 9},
                             Batch{2, 3, 2, 3}, Batch{6, 8, 3, 5}, Batch{1, 1, 1, 1}}) {
    const auto sentences = random_sentences(4, batch.sentences, batch.longest);
    expect_same(run_trace(*worker, *cuda, sentences, batch.width, batch.steps),
                run_trace(*other, *reference, sentences, batch.width, batch.steps));
  }
}

TEST(CudaExecutable, TakesNoMemoryForSizesThatItHasSeen) {
  const ToyModel model = toy_model(5);
  const auto cuda = compile_toy(model);
  const auto worker = cuda->make_worker();
  const auto sentences = random_sentences(6, 5, 8);
  run_trace(*worker, *cuda, sentences, 4, 9);
  run_trace(*worker, *cuda, random_sentences(7, 4, 6), 3, 8);
  const auto before = emulated_cuda::allocations();
  run_trace(*worker, *cuda, random_sentences(7, 4, 6), 3, 8);
  run_trace(*worker, *cuda, sentences, 4, 9);
  EXPECT_EQ(emulated_cuda::allocations(), before);
  run_trace(*worker, *cuda, random_sentences(8, 40, 8), 4, 9);
  EXPECT_GT(emulated_cuda::allocations(), before);
}

TEST(CudaExecutable, TellsOfItself) {
  const ToyModel model = toy_model(9);
  const auto cuda = compile_toy(model);
  EXPECT_EQ(cuda->notes().size(), 1u);
  EXPECT_GT(cuda->memory().rows, 0u);
  EXPECT_TRUE(cuda->memory().arenas.empty());
  EXPECT_FALSE(cuda->plan(BindingTime::step).empty());
  EXPECT_THROW(cuda->output("nothing"), Error);
  const auto worker = cuda->make_worker();
  run_trace(*worker, *cuda, random_sentences(2, 3, 4), 2, 3);
  EXPECT_GT(cuda->memory().arenas.at(0), 0u);
  EXPECT_GT(worker->arena_bytes(BindingTime::step), 0u);
}

TEST(CudaExecutable, SaysWhichDevicesThereAre) {
  EXPECT_THAT([] { use_device(99); },
              ThrowsMessage<Error>(HasSubstr("no CUDA device 99: this machine has 2")));
}

TEST(CudaExecutable, SaysWhetherThereIsADriver) {
  const auto use = [] { use_device(0); };
  emulated_cuda::set_driver_version(0);
  EXPECT_THAT(use, ThrowsMessage<Error>(HasSubstr("no NVIDIA driver")));
  emulated_cuda::set_driver_version(12040);
  EXPECT_THAT(use,
              ThrowsMessage<Error>(HasSubstr("driver is too old: it supports CUDA 12.4, and")));
  emulated_cuda::set_driver_version(CUDART_VERSION);
  EXPECT_NO_THROW(use());
}

}  // namespace
}  // namespace fuselage::cuda::executable_test
