// Traits, and what they promise.

#include <set>

#include "tests/ops/evaluation.h"

namespace fuselage {
namespace {

TEST(Traits, SayWhatRulesRelyOn) {
  const auto names_with = [](Trait trait) {
    std::set<std::string_view> names;
    for (const OpDef* def : all_ops().all())
      if (def->has(trait)) names.insert(def->name);
    return names;
  };
  using Names = std::set<std::string_view>;
  EXPECT_EQ(names_with(Trait::linear),
            (Names{"expand", "matmul", "neg", "permute", "reduce_mean", "reduce_sum", "reshape",
                   "slice", "slice_leading", "transpose"}));
  EXPECT_EQ(names_with(Trait::commutative), (Names{"add", "equal", "mul", "not_equal"}));
  for (const OpDef* def : all_ops().all())
    EXPECT_TRUE(!def->has(Trait::elementwise) || def->has(Trait::row_wise)) << def->name;
  EXPECT_EQ(names_with(Trait::selects_rows), Names{"select_rows"});
  EXPECT_EQ(names_with(Trait::mixes_rows), (Names{"mix_rows", "mean_rows", "sum_rows"}));
  EXPECT_EQ(names_with(Trait::loop_state), Names{"state"});
  EXPECT_EQ(names_with(Trait::loop_next), Names{"next"});
  EXPECT_EQ(names_with(Trait::sink), Names{"next"});
  EXPECT_EQ(names_with(Trait::external), (Names{"param", "import"}));
  EXPECT_EQ(names_with(Trait::changes_domain), (Names{"collect", "history"}));
  for (const char* name :
       {"param", "state", "select_rows", "segment_softmax", "mix_rows", "position"})
    EXPECT_FALSE(find_op(name).has(Trait::row_wise)) << name;
  for (const char* name :
       {"add", "matmul", "layer_norm", "softmax", "concat", "k_best", "sinusoid"})
    EXPECT_TRUE(find_op(name).has(Trait::row_wise)) << name;
}

// A row-wise op gives a row the same result whatever the other rows hold.
TEST(Traits, RowWiseResultsDoNotDependOnOtherRows) {
  for (const char* equation :
       {"%y = softmax(%h4)", "%y = layer_norm(%h4, %v4) {epsilon = 0.1}", "%y = add(%h4, %v4)",
        "%y = matmul(%h5, %e)", "%y = concat(%h4, %h5)", "%y = slice(%h4) {begin = 1, end = 3}",
        "%y, %i = k_best(%h5) {k = 2}", "%y = sinusoid(%hi) {dim = 4}"}) {
    SCOPED_TRACE(equation);
    const Graph graph = over_inputs(equation);
    const NodeId node = node_named(graph, "y");
    ASSERT_TRUE(graph.node(node).has(Trait::row_wise));
    Inputs first{{"h4", std::vector<double>(16, 0.25)},
                 {"h5", std::vector<double>(20, -1)},
                 {"hi", {1, 2, 3, 4}},
                 {"v4", {1, 2, 3, 4}},
                 {"e", std::vector<double>(10, 0.5)}};
    Inputs second = first;
    for (int i = 0; i < 12; ++i) second["h4"][static_cast<std::size_t>(i)] = i * i;
    for (int i = 0; i < 15; ++i) second["h5"][static_cast<std::size_t>(i)] = 3 * i;
    second["hi"] = {7, 8, 9, 4};
    const auto a = evaluate<float>(graph, test_rows(graph), first, node)[0];
    const auto b = evaluate<float>(graph, test_rows(graph), second, node)[0];
    for (std::int64_t c = 0; c < a.cols; ++c) EXPECT_EQ(a.row(3)[c], b.row(3)[c]);
    EXPECT_NE(a.data, b.data);
  }
}

}  // namespace
}  // namespace fuselage
