// Loops of trained models that become whole recurrent layers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/reference/interpreter.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "fuselage/passes/pipeline.h"
#include "passes/rewrite/pass_manager.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

std::ptrdiff_t count(const Graph& graph, std::string_view op) {
  const std::vector<NodeId> nodes = graph.nodes();
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](NodeId id) { return graph.node(id).op->name == op; });
}

/// Gives out what each loop over source positions collects.
void give_out_collected(Graph& graph) {
  for (const NodeId id : graph.nodes())
    if (graph.node(id).op->name == "collect")
      graph.add_output("collected" + std::to_string(id.index), graph.result(id));
}

Graph with_layers(Graph graph) {
  run_passes(select_passes("all", {.recurrent_kernels = true}), graph);
  return graph;
}

/// Random words, in sentences of lengths that are all in one batch.
std::vector<WordIds> ragged_sentences(const Graph& graph) {
  std::int64_t words = 0;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
    const RowMap& map = graph.map(MapId{i});
    if (map.kind == MapKind::word && graph.domain(map.from).kind == DomainKind::source)
      words = graph.domain(map.to).size;
  }
  std::mt19937 random(1);
  std::vector<WordIds> sentences;
  for (const std::size_t length : {2, 1, 7, 1, 16, 3}) {
    WordIds& sentence = sentences.emplace_back(length);
    for (std::int32_t& word : sentence)
      word = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(words));
  }
  return sentences;
}

/// What the encoder collects, one array for each loop.
std::vector<Array<float>> collected(const Graph& graph, const TensorMap& weights,
                                    const std::vector<WordIds>& sentences) {
  RowFrame frame(graph);
  Interpreter<float> interpreter(graph, weights);
  interpreter.run(BindingTime::load, frame);
  frame.begin_batch(sentences);
  interpreter.run(BindingTime::source, frame);
  std::vector<Array<float>> arrays;
  for (const Output& output : graph.outputs())
    if (output.name.starts_with("collected")) arrays.push_back(interpreter.value(output.value));
  return arrays;
}

struct ModelCase {
  const char* name;
  std::ptrdiff_t layers;
};

class RecurrentLayers : public ::testing::TestWithParam<ModelCase> {
 protected:
  void SetUp() override { path_ = support::conformance_case(GetParam().name) + "/model.npz"; }

  std::string path_;
};

TEST_P(RecurrentLayers, GiveTheStatesOfTheLoops) {
  Model model = load_model(path_);
  give_out_collected(model.graph);
  const Graph fused = with_layers(model.graph);
  EXPECT_EQ(count(fused, "recurrent_layer"), GetParam().layers);
  EXPECT_EQ(count(fused, "collect"), count(model.graph, "collect") - GetParam().layers);

  const std::vector<WordIds> sentences = ragged_sentences(model.graph);
  const auto expected = collected(model.graph, model.weights, sentences);
  const auto actual = collected(fused, model.weights, sentences);
  ASSERT_FALSE(expected.empty());
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].data.size(), expected[i].data.size());
    for (std::size_t k = 0; k < expected[i].data.size(); ++k)
      ASSERT_NEAR(actual[i].data[k], expected[i].data[k], 1e-5) << "loop " << i;
  }
}

// No kernel of the CPU runs them, so their own evaluation does.
TEST_P(RecurrentLayers, TranslateOnTheCpu) {
  const Model model = load_model(path_);
  const SearchOptions options{.beam_size = 2, .max_length_factor = 1};
  const Graph graph = with_search_head(model.graph, SearchHead::k_best,
                                       {.k = BeamSearch::candidates_per_row(options)});
  const auto search = [&](const Graph& searched) {
    const auto executable = compile(searched, model.weights, {.passes = "none"});
    return BeamSearch(*executable, options).search(ragged_sentences(graph));
  };
  const std::vector<NBest> expected = search(graph);
  const std::vector<NBest> actual = search(with_layers(graph));
  for (std::size_t s = 0; s < expected.size(); ++s)
    EXPECT_EQ(actual[s][0].words, expected[s][0].words);
}

INSTANTIATE_TEST_SUITE_P(Models, RecurrentLayers,
                         ::testing::Values(ModelCase{"s2s-basic", 2}, ModelCase{"nematus", 0},
                                           ModelCase{"amun", 2}, ModelCase{"s2s-deep-ln", 0},
                                           ModelCase{"architectures/s2s-lstm", 2},
                                           ModelCase{"architectures/s2s-deep-lstm", 0}),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '-' || c == '/'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace fuselage
