#include <gtest/gtest.h>

#include <string>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "emulated_cuda/control.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/architectures/architecture.h"
#include "tests/backends/support.h"

namespace fuselage::cuda {
namespace {

/// A step takes about as long as its launches in a row, so their number counts.
class LaunchesTest : public ::testing::Test {
 protected:
  /// Launches for a batch of a transformer with so many layers of the decoder.
  static std::int64_t launches(int layers, Precision precision, const std::string& passes) {
    const SearchOptions options{.beam_size = 1, .max_length_factor = 1, .suppressed = {0}};
    const Model model = build_random_model("transformer",
                                           {{"dim-vocabs", "[50, 50]"},
                                            {"dim-emb", "32"},
                                            {"enc-depth", "1"},
                                            {"dec-depth", std::to_string(layers)},
                                            {"transformer-heads", "2"},
                                            {"transformer-dim-ffn", "64"},
                                            {"transformer-ffn-activation", "swish"},
                                            {"transformer-postprocess", "dan"}},
                                           1);
    Graph graph =
        with_search_head(model.graph, SearchHead::k_best,
                         {.k = BeamSearch::candidates_per_row(options), .alignment = false});
    optimize(graph, {.backend = "cuda", .passes = passes, .precision = precision});
    const auto cuda = make_cuda_executable(split_by_binding_time(graph), model.weights,
                                           {.eager = true}, cuda_kernels(), kernel_registry());
    BeamSearch search(*cuda, options);
    const std::vector<WordIds> sentences{WordIds(kSteps, 3)};
    const std::int64_t before = emulated_cuda::launches();
    EXPECT_EQ(search.search(sentences)[0].at(0).words.size(), kSteps);
    return emulated_cuda::launches() - before;
  }

  /// Launches of a step for each layer of the decoder.
  static double per_layer(Precision precision, const std::string& passes = "all") {
    return static_cast<double>(launches(3, precision, passes) - launches(2, precision, passes)) /
           kSteps;
  }

  static constexpr std::size_t kSteps = 6;
};

/// Launches of a search with a GRU of the shape of Amun's models, for translations `longer` times
/// as long as the source.
std::int64_t launches_of_gru(Precision precision, float longer) {
  constexpr std::size_t kWords = 6;
  const SearchOptions options{.beam_size = 1, .max_length_factor = longer, .suppressed = {0}};
  const Model model = build_random_model("rnn-stack",
                                         {{"dim-vocabs", "[90, 90]"},
                                          {"dim-emb", "16"},
                                          {"encoder", "[bi-gru 32]"},
                                          {"decoder", "[gru+gru 32]"},
                                          {"readout", "16"}},
                                         1);
  Graph graph =
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .alignment = false});
  optimize(graph, {.backend = "cuda", .precision = precision});
  const auto cuda = make_cuda_executable(split_by_binding_time(graph), model.weights,
                                         {.eager = true}, cuda_kernels(), kernel_registry());
  BeamSearch search(*cuda, options);
  const std::int64_t before = emulated_cuda::launches();
  search.search(std::vector<WordIds>{WordIds(kWords, 3)});
  return emulated_cuda::launches() - before;
}

// A sentence is bound by its launches, so bf16 is not slower than fp32 only with about as many.
TEST_F(LaunchesTest, AreNotManyMoreInBf16ForOneSentence) {
  const auto steps = [](Precision precision) {
    return static_cast<double>(launches_of_gru(precision, 2) - launches_of_gru(precision, 1)) / 6;
  };
  const double fp32 = steps(Precision::fp32), bf16 = steps(Precision::bf16);
  RecordProperty("fp32", std::to_string(fp32));
  RecordProperty("bf16", std::to_string(bf16));
  EXPECT_LE(bf16, fp32 + 3) << "in fp32 " << fp32;
}

TEST_F(LaunchesTest, AreFewWhereKernelsRoundTheirResults) {
  EXPECT_LE(per_layer(Precision::bf16), 16);
  EXPECT_LE(per_layer(Precision::fp32), 16);
  EXPECT_GE(per_layer(Precision::bf16, "all,-round_rows"), 22);
}

}  // namespace
}  // namespace fuselage::cuda
