// models/papers/devlin-s1.yml: what the optimizer makes of plain equations, and that it computes
// the same.

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <regex>

#include "base/files/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/models/load_model.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/structure/leaf.h"
#include "tests/random_weights.h"
#include "tests/temp_path.h"

namespace fuselage::devlin_s1_test {
namespace {

/// The graph with a small vocabulary, which makes no difference to what passes do.
Graph devlin_s1() {
  const std::string path = FUSELAGE_SOURCE_DIR "/models/papers/devlin-s1.yml";
  const std::string small = temp_path("devlin-s1.yml");
  write_file_atomically(small, std::regex_replace(read_file(path), std::regex("8000"), "500"));
  return load_model(small, {.random_weights = 1}).graph;
}

TensorMap random_weights(const Graph& graph) {
  std::mt19937 random(1);
  return weights_for(graph, [&random](const Type&, const Dims& shape) {
    const float bound = 2 / std::sqrt(static_cast<float>(shape[0]));
    std::uniform_real_distribution<float> uniform(-bound, bound);
    return tensor_of(shape, [&] { return uniform(random); });
  });
}

/// Logits of three steps over two sentences whose hypotheses share parents.
std::vector<float> run_steps(const Executable& executable) {
  const std::vector<WordIds> sentences{{7, 3, 31, 5, 0}, {12, 0}};
  const auto worker = executable.make_worker();
  worker->begin(sentences, {{3, 3}, {3, 3}});
  const std::vector<std::int32_t> parents[] = {{-1, -1}, {0, 1}, {0, 2, 3}};
  const std::vector<std::int32_t> parent_sentence[] = {{0, 1}, {0, 1}, {0, 0, 1}};
  const std::vector<std::int32_t> hypothesis_parent[] = {{0, 1}, {0, 0, 0, 1, 1}, {0, 1, 1, 2, 2}};
  const std::vector<std::int32_t> words[] = {{-1, -1}, {4, 9, 2, 4, 39}, {8, 8, 1, 17, 6}};
  std::vector<float> logits;
  for (std::size_t t = 0; t < 3; ++t) {
    const std::vector<std::int32_t> positions(words[t].size(), static_cast<std::int32_t>(t));
    worker->step({parents[t], parent_sentence[t], hypothesis_parent[t], words[t], positions});
    const OutputRows<float> rows = worker->floats(executable.output("logits"));
    logits.insert(logits.end(), rows.data, rows.data + rows.rows * rows.cols);
  }
  return logits;
}

TEST(DevlinS1, TheOptimizerFindsThePapersTechniques) {
  Graph graph = devlin_s1();
  std::map<std::string, std::size_t> rewrites;
  for (const PassRecord& record : optimize(graph))
    for (const auto& [rule, count] : record.rewrites) rewrites[rule] += count;
  for (const char* rule : {"embeddings", "attention", "merge_states", "input_projections"})
    EXPECT_THAT(rewrites, ::testing::Contains(::testing::Key(rule)));

  // No product is left in the step that could run on other rows.
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Matmul>() && !node.is<op::Linear>()) continue;
    if (graph.binding(id) != BindingTime::step) continue;
    EXPECT_THAT(graph.producer(node.operands[0]).op->name,
                ::testing::Not(::testing::AnyOf("select_rows", "mix_rows", "concat")));
  }
}

TEST(DevlinS1, GivesTheSameWithAndWithoutPasses) {
  const Graph graph = devlin_s1();
  const TensorMap weights = random_weights(graph);
  const std::vector<float> plain = run_steps(*compile(graph, weights, {.passes = "none"}));
  const std::vector<float> optimized = run_steps(*compile(graph, weights));
  ASSERT_EQ(plain.size(), (2u + 5 + 5) * 500);
  ASSERT_EQ(optimized.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(optimized[i], plain[i], 1e-4) << i;
}

/// How often each op occurs, expressions and other attributes apart.
std::map<std::string_view, int> counts_of_ops(const Graph& graph) {
  std::map<std::string_view, int> counts;
  for (const NodeId id : graph.nodes()) ++counts[graph.node(id).op->name];
  return counts;
}

TEST(DevlinS1, ApproximateActivationsFuseLikeExactOnes) {
  Graph exact = devlin_s1();
  optimize(exact);
  for (const Activations activations : {Activations::fast, Activations::table}) {
    const std::string by(to_string(activations));
    Graph graph = devlin_s1();
    optimize(graph, {.activations = activations});
    EXPECT_EQ(counts_of_ops(graph), counts_of_ops(exact)) << by;
    const std::string text = print_graph(graph);
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("tanh("))) << by;
    EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("sigmoid("))) << by;
    EXPECT_THAT(text, ::testing::HasSubstr("tanh_" + by + "(")) << by;
    EXPECT_THAT(text, ::testing::HasSubstr("sigmoid_" + by + "(")) << by;
    EXPECT_THAT(text, ::testing::HasSubstr("additive_attention(")) << by;
  }
}

TEST(DevlinS1, ApproximateActivationsStayNearExactOnes) {
  const Graph graph = devlin_s1();
  const TensorMap weights = random_weights(graph);
  const std::vector<float> exact = run_steps(*compile(graph, weights));
  for (const auto& [activations, bound] :
       {std::pair{Activations::fast, 1e-3f}, {Activations::table, 1e-2f}}) {
    const auto approximate = compile(graph, weights, {.activations = activations});
    const std::vector<float> logits = run_steps(*approximate);
    float furthest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      furthest = std::max(furthest, std::abs(logits[i] - exact[i]));
    EXPECT_LT(furthest, bound) << to_string(activations);
    EXPECT_GT(furthest, bound / 100) << to_string(activations) << ": is anything approximated?";
  }
}

}  // namespace
}  // namespace fuselage::devlin_s1_test
