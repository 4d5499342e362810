// models/papers/quinn.yml: its sizes, and what the optimizer makes of its plain equations.

#include <gmock/gmock.h>

#include "fuselage/backends/compile.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

Graph quinn() {
  return load_model(FUSELAGE_SOURCE_DIR "/models/papers/quinn.yml", {.random_weights = 1}).graph;
}

TEST(Quinn, HasTheSizesOfThePaper) {
  // Matrices of the decoder's step: 54 million numbers, two thirds of them the output layer's.
  const Graph graph = quinn();
  double numbers = 0;
  for (const NodeId id : graph.nodes())
    if (graph.node(id).op->name == "matmul" && graph.binding(id) == BindingTime::step)
      numbers += static_cast<double>(row_size(graph.value(graph.node(id).operands[1]).type));
  EXPECT_NEAR(numbers, 54e6, 0.5e6);
}

TEST(Quinn, TheOptimizerSharesAndMovesItsWork) {
  Graph graph = quinn();
  std::map<std::string, std::size_t> rewrites;
  for (const PassRecord& record : optimize(graph))
    for (const auto& [rule, count] : record.rewrites) rewrites[rule] += count;
  for (const char* rule :
       {"attention", "merge_states", "input_projections", "additive_attention", "epilogue"})
    EXPECT_THAT(rewrites, ::testing::Contains(::testing::Key(rule)));
}

}  // namespace
}  // namespace fuselage
