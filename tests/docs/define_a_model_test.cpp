// docs/define-a-model.md: its code is the example file, and the example works.

#include <gmock/gmock.h>

#include <random>

#include "base/files/file.h"
#include "docs/examples/tiny_translator.cpp"  // NOLINT: the example is a page, not a library
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "graph/traversal.h"
#include "tests/random_weights.h"

namespace fuselage {
namespace {

TensorMap random_weights(const Graph& graph) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.5f);
  return weights_for(graph, [&](const Type&, const Dims& shape) {
    return tensor_of(shape, [&] { return normal(random); });
  });
}

TEST(DefineAModel, ThePageShowsTheExampleFile) {
  const std::string root = FUSELAGE_SOURCE_DIR;
  const std::string page = read_file(root + "/docs/define-a-model.md");
  const std::string file = read_file(root + "/docs/examples/tiny_translator.cpp");
  EXPECT_THAT(page, ::testing::HasSubstr("```cpp\n" + file + "```\n"));
}

TEST(DefineAModel, TheExampleTranslatesTheSameOnBothBackends) {
  const Graph graph = tiny_translator(30, 8);
  const TensorMap weights = random_weights(graph);
  const SearchOptions options{.beam_size = 4, .normalize = 1, .max_length_factor = 2};
  const std::vector<WordIds> sentences{{3, 14, 15, 0}, {9, 2, 6, 5, 3, 5, 0}, {0}};
  std::vector<std::vector<NBest>> results;
  for (const char* backend : {"cpu", "reference"}) {
    const auto executable = compile(
        with_search_head(graph, SearchHead::k_best, {.k = BeamSearch::candidates_per_row(options)}),
        weights, {.backend = backend});
    results.push_back(BeamSearch(*executable, options).search(sentences));
  }
  ASSERT_EQ(results[0].size(), sentences.size());
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    ASSERT_EQ(results[0][s].size(), 4u);
    for (std::size_t h = 0; h < 4; ++h) {
      EXPECT_EQ(results[0][s][h].words, results[1][s][h].words);
      EXPECT_NEAR(results[0][s][h].score, results[1][s][h].score, 1e-4);
    }
  }
}

TEST(DefineAModel, TheExampleRoundTripsThroughText) {
  const Graph graph = tiny_translator(30, 8);
  EXPECT_TRUE(same_graph(graph, parse_graph(print_graph(graph), "tiny.ir", all_ops())));
}

TEST(DefineAModel, AMismatchNamesBothShapesAndTheLine) {
  Builder b("wrong");
  const DomainId sentence = b.graph().add_sentences("sentence");
  const DomainId source = b.graph().add_source("source", sentence);
  const DomainId scan = b.graph().add_scan("forward", source, false);
  const Expr state = b.state(b.constant(0, {8}), scan);
  EXPECT_THAT(
      [&] {
        dot(state, b.param("W", {9, 8}));
      },
      ::testing::ThrowsMessage<Error>(::testing::AllOf(
          ::testing::HasSubstr("define_a_model_test.cpp:"),
          ::testing::HasSubstr("inner dimensions differ: forward f32[8] by f32[9, 8]"))));
}

}  // namespace
}  // namespace fuselage
