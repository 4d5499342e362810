#include <bit>
#include <numeric>

#include "backends/cuda/device/gather/copy.h"
#include "fuselage/base/tensor.h"
#include "tests/cuda/op_program.h"

namespace fuselage::cuda::loop_kernels_test {
namespace {

using LoopKernelsTest = OpTest;

std::vector<float> counted(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(LoopKernelsTest, StatesContinueOrStartAnew) {
  for (const std::int64_t columns : {1, 5, 32, 33, 257}) {
    const auto n = static_cast<std::size_t>(columns);
    DeviceArray<float> init(counted(2 * n, 1000)), last(counted(3 * (n + 3), 0));
    DeviceArray<std::int32_t> previous(std::vector{2, -1, 0, 2}), sentence(std::vector{1, 1, 0, 0});
    DeviceArray<std::int32_t> live(1, 4);
    DeviceArray<float> out(5 * n, -1);
    continue_rows(stream(), {.data = init.data(), .stride = columns, .index = sentence.data()},
                  {.data = last.data(), .stride = columns + 3}, previous.data(), {live.data(), 5},
                  columns, {.data = out.data(), .stride = columns});
    const std::vector<float> got = out.to_host();
    for (std::size_t c = 0; c < n; ++c) {
      const auto column = static_cast<float>(c);
      EXPECT_EQ(got[c], static_cast<float>(2 * (n + 3)) + column);
      EXPECT_EQ(got[n + c], 1000 + static_cast<float>(n) + column);
      EXPECT_EQ(got[2 * n + c], column);
      EXPECT_EQ(got[3 * n + c], got[c]);
      EXPECT_EQ(got[4 * n + c], -1) << "beyond the rows";
    }
  }
}

TEST_F(LoopKernelsTest, CollectPutsRowsAtTheirPositions) {
  for (const std::int64_t columns : {1, 5, 32, 33, 257}) {
    const auto n = static_cast<std::size_t>(columns);
    DeviceArray<float> x(counted(2 * n, 0)), out(6 * n, -1);
    DeviceArray<std::int32_t> index(std::vector{4, 1}), live(1, 2);
    scatter_rows(stream(), {.data = x.data(), .stride = columns}, index.data(), {live.data(), 3},
                 columns, {.data = out.data(), .stride = columns});
    const std::vector<float> got = out.to_host();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float column = static_cast<float>(i % n);
      const float rows[] = {-1, static_cast<float>(n) + column, -1, -1, column, -1};
      EXPECT_EQ(got[i], rows[i / n]) << i;
    }
  }
}

/// Runs `body`, which copies "x" to the output "y", and returns both.
std::pair<std::vector<float>, std::vector<double>> run_program(cudaStream_t stream,
                                                               std::string_view body,
                                                               int hypotheses) {
  const Graph graph = graph_of(body);
  const RowFrame frame = random_rows(graph, 5, hypotheses);
  const Inputs inputs = random_inputs(graph, frame.table(), 5);
  OpProgram program(graph, frame.table(), inputs);
  program.run(stream);
  return {program.output(0), inputs.at("x")};
}

TEST_F(LoopKernelsTest, HistoryAppendsTheRowsOfThisStep) {
  for (const int columns : {1, 5, 32, 257})
    for (const int hypotheses : {0, 1, 33}) {
      const auto [got, x] =
          run_program(stream(),
                      with(R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%y = history(%x) {domain = prefix}
return y = %y
)",
                           "$n", columns),
                      hypotheses);
      ASSERT_EQ(got.size(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(static_cast<double>(got[i]), x[i]);
    }
}

TEST_F(LoopKernelsTest, HistoryRoundsTheRowsOfThisStep) {
  for (const char* type : {"bf16", "f16"})
    for (const int columns : {2, 6, 34, 258})
      for (const int hypotheses : {0, 1, 33}) {
        const std::string body = R"(%x = import() {name = "x", domain = hyp, dims = [$n]}
%y = history(%x) {domain = prefix, to = )";
        const auto [got, x] = run_program(
            stream(), with(body + type + "}\nreturn y = %y\n", "$n", columns), hypotheses);
        ASSERT_EQ(2 * got.size(), x.size());
        const bool is_bf16 = std::string_view(type) == "bf16";
        for (std::size_t i = 0; i < x.size(); ++i) {
          const auto word = std::bit_cast<std::uint32_t>(got[i / 2]);
          const auto half = static_cast<std::uint16_t>(i % 2 == 0 ? word : word >> 16);
          const float want =
              rounded_to(is_bf16 ? DType::bf16 : DType::f16, static_cast<float>(x[i]));
          ASSERT_EQ(is_bf16 ? bfloat16_to_float(half) : half_to_float(half), want) << i;
        }
      }
}

// The first iteration reads the initial value; the next value is in the state's buffer or copied.
TEST_F(LoopKernelsTest, LoopOverASource) {
  const Graph graph = graph_of(R"(%x = import() {name = "x", domain = sentence, dims = [7]}
%s = state(%x) {domain = fwd}
%t = relu(%s)
next(%s, %t)
return s = %s, t = %t
)");
  RowFrame frame = random_rows(graph, 3, 1);
  frame.begin_iteration(graph.find_domain("fwd"), 0);
  const Inputs inputs = random_inputs(graph, frame.table(), 5);
  OpProgram program(graph, frame.table(), inputs);
  program.run(stream());
  const std::vector<float> state = program.output(0), next = program.output(1);
  const auto sentence =
      frame.table().index(graph.map_of(graph.find_domain("fwd"), MapKind::structural));
  const auto of_source =
      frame.table().index(graph.map_of(graph.find_domain("source"), MapKind::structural));
  ASSERT_EQ(state.size(), sentence.size() * 7);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto row = static_cast<std::size_t>(of_source[static_cast<std::size_t>(sentence[i / 7])]);
    EXPECT_EQ(static_cast<double>(state[i]), inputs.at("x")[row * 7 + i % 7]);
    EXPECT_EQ(next[i], std::max(state[i], 0.0f));
  }
}

}  // namespace
}  // namespace fuselage::cuda::loop_kernels_test
