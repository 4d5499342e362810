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

struct Case {
  int layers = 6;  ///< of the decoder
  Precision precision = Precision::bf16;
  std::string passes = "all";
  std::size_t steps = 6;
  bool eager = true;
  std::string postprocess = "dan";
  std::string activation = "swish";
};

struct Launches {
  std::int64_t all = 0, early = 0;
};

/// A step takes about as long as its launches in a row, so their number counts.
class LaunchesTest : public ::testing::Test {
 protected:
  /// Launches for a batch of a transformer.
  static Launches launches(const Case& of) {
    const SearchOptions options{.beam_size = 1, .max_length_factor = 1, .suppressed = {0}};
    const Model model = build_random_model("transformer",
                                           {{"dim-vocabs", "[50, 50]"},
                                            {"dim-emb", "32"},
                                            {"enc-depth", "1"},
                                            {"dec-depth", std::to_string(of.layers)},
                                            {"transformer-heads", "2"},
                                            {"transformer-dim-ffn", "64"},
                                            {"transformer-ffn-activation", of.activation},
                                            {"transformer-postprocess", of.postprocess}},
                                           1);
    Graph graph =
        with_search_head(model.graph, SearchHead::k_best,
                         {.k = BeamSearch::candidates_per_row(options), .alignment = false});
    optimize(graph, {.backend = "cuda", .passes = of.passes, .precision = of.precision});
    const auto cuda = make_cuda_executable(split_by_binding_time(graph), model.weights,
                                           {.eager = of.eager}, cuda_kernels(), kernel_registry());
    BeamSearch search(*cuda, options);
    const std::vector<WordIds> sentences{WordIds(of.steps, 3)};
    const Launches before{emulated_cuda::launches(), emulated_cuda::early_launches()};
    EXPECT_EQ(search.search(sentences)[0].at(0).words.size(), of.steps);
    return {emulated_cuda::launches() - before.all, emulated_cuda::early_launches() - before.early};
  }

  /// Launches of a step.
  static double per_step(Case of) {
    const std::int64_t few = launches(of).all;
    constexpr std::size_t kMore = 4;
    of.steps += kMore;
    return static_cast<double>(launches(of).all - few) / kMore;
  }

  /// Launches of a step for each layer of the decoder.
  static double per_layer(Case of) {
    of.layers = 3;
    const double three = per_step(of);
    of.layers = 2;
    return three - per_step(of);
  }
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
  for (const Precision precision : {Precision::bf16, Precision::fp32})
    EXPECT_LE(per_layer({.precision = precision}), 12) << to_string(precision);
  EXPECT_GE(per_layer({.passes = "all,-round_rows"}), 18);
}

// Queries, keys and values are one product, and attention appends keys and values.
TEST_F(LaunchesTest, AreFewerWhereKeysAndValuesAreProductsOfNewRows) {
  EXPECT_LE(per_layer({}), per_layer({.passes = "all,-append_products"}) - 3);
}

// The sum with sinusoids reads positions where row tables have them.
TEST_F(LaunchesTest, OfPositionsAreTheSumAlone) {
  EXPECT_LE(per_step({.layers = 1}), per_step({.layers = 1, .passes = "all,-fuse_positions"}) - 2);
}

// Attention rounds the keys and values that it appends.
TEST_F(LaunchesTest, AreNoMoreWhereKeysAndValuesAreRounded) {
  EXPECT_LE(per_step({.layers = 1}), per_step({.layers = 1, .passes = "all,-round_attention"}));
}

TEST_F(LaunchesTest, OfAStepAreBounded) {
  EXPECT_LE(per_step({}), 80);
  EXPECT_LE(per_step({.precision = Precision::fp32, .activation = "relu"}), 80);
}

// Eager launches are as any other, which tells errors of early starts from others.
TEST_F(LaunchesTest, OfCapturedStepsStartEarly) {
  const Launches captured = launches({.layers = 1, .steps = 8, .eager = false});
  EXPECT_GE(captured.early, 13) << "of one captured step, of which 7 are cuBLASLt's";
  EXPECT_EQ(launches({.layers = 1, .steps = 8}).early, 0);
}

}  // namespace
}  // namespace fuselage::cuda
