#include "backends/cuda/device/recurrent/recurrent_layer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/runtime/stream.h"
#include "backends/cuda/kernel_table.h"
#include "emulated_cuda/control.h"
#include "fuselage/base/error.h"
#include "tests/cuda/device_array.h"
#include "tests/cuda/op_program.h"
#include "tests/graph/support.h"

namespace fuselage::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr RecurrentShape kShape{RecurrentCell::lstm, 3, 2};

/// A layer on four rows, with parameters that tests can change.
struct SmallLayer {
  SmallLayer() {
    const std::vector<float> ones(3 * 8, 1);
    const auto bytes =
        recurrent_weights(kShape, {ones.data(), ones.data(), ones.data(), ones.data()});
    weights = std::make_unique<DeviceArray<std::byte>>(bytes);
  }

  void run(cudaStream_t to) {
    cudnn.run(to, shape,
              {.x = x.data(),
               .y = y.data(),
               .lengths = lengths,
               .weights = {weights->data(), weights->size()}});
  }

  RecurrentShape shape = kShape;
  std::vector<int> lengths = {3, 1};
  std::unique_ptr<DeviceArray<std::byte>> weights;
  DeviceArray<float> x{12, 0.5f}, y{8, -1.0f};
  Cudnn cudnn;
};

using RecurrentCudnn = CudaTest;

TEST_F(RecurrentCudnn, WritesARowForEachOfTheInput) {
  SmallLayer layer;
  layer.run(stream());
  const std::vector<float> y = layer.y.to_host();
  // Sentences have the same first rows, and units the same weights.
  EXPECT_EQ(y[0], y[1]);
  EXPECT_EQ(y[2], y[0]);
  EXPECT_GT(y[0], 0);
  EXPECT_GT(y[4], y[0]);
  EXPECT_GT(y[6], y[4]);
}

TEST_F(RecurrentCudnn, NothingIsDoneForNoSentences) {
  SmallLayer layer;
  layer.lengths.clear();
  layer.run(stream());
  EXPECT_EQ(layer.y.to_host(), std::vector<float>(8, -1.0f));
}

TEST_F(RecurrentCudnn, SaysWhatTheLibraryRefuses) {
  SmallLayer layer;
  layer.lengths = {1, 3};
  EXPECT_THAT([&] { layer.run(stream()); },
              ThrowsMessage<Error>(HasSubstr("cuDNN failed: CUDNN_STATUS_BAD_PARAM")));
  EXPECT_THAT([] { CudnnFunction("cudnnNothing"); },
              ThrowsMessage<Error>(HasSubstr("cuDNN library has no function cudnnNothing")));
}

TEST_F(RecurrentCudnn, CannotBeCaptured) {
  SmallLayer layer;
  const Stream captured;
  layer.run(captured.get());
  EXPECT_THAT([&] { CapturedWork(captured, [&] { layer.run(captured.get()); }); },
              ThrowsMessage<Error>(HasSubstr("recurrent layer (lstm, 3 to 2): cuDNN failed")));
}

TEST_F(RecurrentCudnn, TakesWeightsOfItsShape) {
  SmallLayer layer;
  layer.shape.cell = RecurrentCell::gru;
  EXPECT_THROW(layer.run(stream()), InternalError);
}

TEST_F(RecurrentCudnn, RunsLayersWhoseParametersAreStored) {
  const auto kernel_of = [](std::string_view w) {
    const Graph graph =
        graph_of(with(fmt::format(R"(%x = import() {{name = "x", domain = source, dims = [2]}}
%m = param() {{name = "m", dims = [2, $n]}}
%b = param() {{name = "b", dims = [$n]}}
{}%y = recurrent_layer(%x, %w, %m, %b, %b) {{cell = "gru", over = bwd}}
)",
                                  w),
                      "$n", 6));
    return describe_kernel(graph, node_named(graph, "y"), cuda_kernels());
  };
  EXPECT_EQ(kernel_of("%w = param() {name = \"w\", dims = [2, $n]}\n"), "recurrent_layer");
  EXPECT_THAT(kernel_of("%w = relu(%m)\n"), HasSubstr("its parameters are not stored"));
}

TEST_F(RecurrentCudnn, TakesNoMemoryForBatchesThatItHasSeen) {
  SmallLayer layer;
  const auto run = [&](std::vector<int> lengths) {
    layer.lengths = std::move(lengths);
    layer.run(stream());
  };
  run({3, 1});
  run({1});
  const auto before = emulated_cuda::allocations();
  run({1, 1, 1});
  run({2, 2});
  run({3, 1});
  EXPECT_EQ(emulated_cuda::allocations(), before);
}

}  // namespace
}  // namespace fuselage::cuda
