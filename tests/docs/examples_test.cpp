// docs/examples/rotary_language_model.cpp: its graph is the one in tests/data/language, whose
// results are those of numpy; it continues and scores texts, and the optimizer fuses it.

// NOLINTBEGIN: examples, not libraries
#include "docs/examples/frame_encoder.cpp"
#include "docs/examples/linear_attention.cpp"
#include "docs/examples/recurrent_mixing.cpp"
#include "docs/examples/rotary_language_model.cpp"
#include "docs/examples/sequence_labels.cpp"
// NOLINTEND

Graph tiny_translator(std::int64_t vocabulary_size, std::int64_t size);  // define_a_model_test.cpp

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "base/files/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/generator.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/graph/text.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "graph/traversal.h"
#include "tests/random_weights.h"

namespace fuselage {
namespace {

constexpr RotarySizes kSizes{
    .vocabulary = 9, .layers = 2, .heads = 4, .key_heads = 2, .width = 4, .inner = 12};

/// Compilers differ in the order in which they evaluate arguments, and so in the order of nodes.
bool is_graph_of(const Graph& graph, const std::string& name) {
  const std::string text = read_file(std::string(FUSELAGE_TEST_DATA) + "/language/" + name + ".ir");
  return same_graph(graph, parse_graph(text, name, all_ops()));
}

TEST(Examples, AreTheGraphsThatNumpyComputes) {
  EXPECT_TRUE(is_graph_of(rotary_language_model(kSizes), "rotary_language_model"));
  EXPECT_TRUE(is_graph_of(recurrent_mixing(9, 6, 2), "recurrent_mixing"));
  EXPECT_TRUE(is_graph_of(sequence_labels(7, 6, 3, 5), "sequence_labels"));
  EXPECT_TRUE(is_graph_of(frame_encoder(4, 6, 2), "frame_encoder"));
  EXPECT_TRUE(is_graph_of(linear_attention(7, 2, 3), "linear_attention"));
  EXPECT_TRUE(is_graph_of(tiny_translator(7, 6), "tiny_translator"));
}

/// "BATCH / STEP": the kernels that a batch and a step run.
std::string kernels_of(Graph graph, const std::string& passes) {
  optimize(graph, {.passes = passes});
  const ProgramPlans plans = plan_programs(split_by_binding_time(graph), find_backend("cpu"));
  const auto count = [&plans](BindingTime time) {
    return std::ranges::count_if(plans[static_cast<std::size_t>(time)], &PlannedNode::launched);
  };
  return fmt::format("{} / {}", count(BindingTime::source), count(BindingTime::step));
}

TEST(Examples, HaveTheKernelsThatThePageStates) {
  const std::pair<const char*, Graph> examples[] = {
      {"decoder-only transformer, 2 layers", rotary_language_model(kSizes)},
      {"recurrent language model, 2 layers", recurrent_mixing(9, 6, 2)},
      {"classifier and tagger", sequence_labels(7, 6, 3, 5)},
      {"encoder of frames, 2 layers", frame_encoder(4, 6, 2)},
      {"linear attention", linear_attention(7, 2, 3)},
      {"tiny translator", tiny_translator(7, 6)}};
  const std::string page = read_file(std::string(FUSELAGE_SOURCE_DIR) + "/docs/examples.md");
  for (const auto& [name, graph] : examples) {
    const std::string row =
        fmt::format("| {} | {} | {} |", name, kernels_of(graph, "none"), kernels_of(graph, "all"));
    EXPECT_THAT(page, ::testing::HasSubstr(row));
  }
}

TEST(Examples, ContinueAndScoreTexts) {
  const std::string vocabulary = ::testing::TempDir() + "/rotary_words.txt";
  std::ofstream(vocabulary) << "</s>\n<unk>\na\nb\nc\nd\ne\nf\ng\n";
  std::mt19937 random(2);
  std::normal_distribution<float> normal(0, 0.5f);
  const Graph graph = rotary_language_model(kSizes);
  const TensorMap weights = weights_for(graph, [&](const Type&, const Dims& shape) {
    return tensor_of(shape, [&] { return normal(random); });
  });
  const Model model = make_model(graph, weights, {vocabulary});
  const Generator generator(model, {.beam_size = 3, .max_new_tokens = 6});
  const Generation generation = generator.generate("a b c");
  ASSERT_EQ(generation.continuations.size(), 3u);
  // The score of prompt and continuation is the sum of the prompt's and the continuation's.
  const Continuation& best = generation.continuations.front();
  const Scorer scorer(model);
  const auto whole = scorer.score("a b c " + best.text).word_scores;
  ASSERT_GE(whole.size(), 3 + best.hypothesis.words.size());
  for (std::size_t i = 0; i < best.hypothesis.words.size(); ++i)
    EXPECT_NEAR(whole[3 + i], best.hypothesis.word_scores[i], 1e-4) << i;
}

}  // namespace
}  // namespace fuselage
