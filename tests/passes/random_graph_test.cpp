#include "random_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "execute.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/pipeline.h"
#include "graph/traversal.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {
namespace {

constexpr std::uint64_t kGraphs = 60;

/// Two copies of a graph: one for the exact rules alone, one for all rules.
struct Copies {
  Graph exact, all;
};

bool is_exact(const Pass& pass) {
  return std::all_of(pass.rules.begin(), pass.rules.end(),
                     [](const Rule& rule) { return rule.numerics.kind == NumericClass::exact; });
}

/// A graph, weights, and what it gives, to be compared with what it gives after passes: bits in
/// float with the exact rules alone, numbers in double with all rules.
class Expected {
 public:
  explicit Expected(std::uint64_t seed) : seed_(seed) {}

  /// Compares after `passes`, and returns the graphs that they leave.
  Copies expect_same(const std::vector<Pass>& passes) const {
    Copies after{graph_, graph_};
    run_passes(passes, after.exact, exactly());
    run_passes(passes, after.all);
    expect_same_bits(after.exact);
    expect_same_numbers(after.all);
    return after;
  }

  /// The same after each of `passes` behind what left the graphs `first`. Where one does nothing,
  /// there is nothing to compare again, and the next one takes the same copy.
  void expect_same_behind(const Copies& first, const std::vector<Pass>& passes) const {
    Copies after = first;
    // Hashes take most of the time where a pass does nothing, and expect_same() checks them.
    PassOptions exact = exactly(), all;
    exact.check_hash = all.check_hash = false;
    const bool equal = structural_hash(first.exact) == structural_hash(first.all);
    for (const Pass& second : passes) {
      SCOPED_TRACE(second.name);
      if (equal && is_exact(second)) {
        // It does the same to both copies.
        if (run_pass(second, after.exact, exact).changed) {
          expect_same_bits(after.exact);
          expect_same_numbers(after.exact);
          after.exact = first.exact;
        }
        continue;
      }
      if (run_pass(second, after.exact, exact).changed) {
        expect_same_bits(after.exact);
        after.exact = first.exact;
      }
      if (run_pass(second, after.all, all).changed) {
        expect_same_numbers(after.all);
        after.all = first.all;
      }
    }
  }

 private:
  PassOptions exactly() const {
    return {.verify_each_rewrite = seed_ % 4 == 0, .allow_reassociation = false};
  }
  // Different passes often leave the same graph, which gives the same again.
  void expect_same_bits(const Graph& after) const {
    if (!same_bits_.insert(structural_hash(after)).second) return;
    EXPECT_EQ(difference(bits_, execute<float>(after, special_, seed_), 0), "");
  }
  void expect_same_numbers(const Graph& after) const {
    if (!same_numbers_.insert(structural_hash(after)).second) return;
    EXPECT_EQ(difference(numbers_, execute<double>(after, plain_, seed_), 1e-4), "");
  }

  std::uint64_t seed_;
  Graph graph_ = random_graph(seed_);
  TensorMap special_ = random_weights(graph_, seed_, /*special=*/seed_ % 2 == 1);
  TensorMap plain_ = random_weights(graph_, seed_, /*special=*/false);
  RunResults<float> bits_ = execute<float>(graph_, special_, seed_);
  RunResults<double> numbers_ = execute<double>(graph_, plain_, seed_);
  /// Structural hashes of the graphs that were compared.
  mutable std::set<std::uint64_t> same_bits_, same_numbers_;
};

/// So little memory that not all tables fit as a whole.
PipelineOptions little_memory() {
  PipelineOptions options;
  options.commute.table_bytes = 200;
  options.recurrent_kernels = true;
  options.position_kernels = true;
  return options;
}

/// The passes of the pipeline, each once.
std::vector<Pass> each_pass() {
  std::vector<Pass> passes;
  std::set<std::string> names;
  for (const Pass& pass : default_pipeline(little_memory()))
    if (names.insert(pass.name).second) passes.push_back(pass);
  return passes;
}

class RandomGraph : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGraph, IsValidAndRoundTrips) {
  const Graph graph = random_graph(GetParam());
  verify(graph);
  EXPECT_TRUE(same_graph(graph, parse_graph(print_graph(graph), "printed", all_ops())));
}

TEST_P(RandomGraph, GivesTheSameAfterAllPasses) {
  const Expected expected(GetParam());
  expected.expect_same(select_passes("all"));
  expected.expect_same(select_passes("all", little_memory()));
}

TEST_P(RandomGraph, GivesTheSameAfterEachPass) {
  const Expected expected(GetParam());
  for (const Pass& pass : each_pass()) {
    SCOPED_TRACE(pass.name);
    expected.expect_same({pass});
  }
}

TEST_P(RandomGraph, GivesTheSameAfterEachPairOfPasses) {
  const Expected expected(GetParam());
  const std::vector<Pass> passes = each_pass();
  for (const Pass& first : passes) {
    SCOPED_TRACE(first.name);
    const Copies after = expected.expect_same({first});
    expected.expect_same_behind(after, passes);
  }
}

/// The rules of the pipeline, each as a pass of its own and once.
std::vector<Pass> each_rule() {
  std::vector<Pass> rules;
  for (const Pass& pass : each_pass())
    for (const Rule& rule : pass.rules) rules.push_back({.name = rule.name, .rules = {rule}});
  return rules;
}

TEST_P(RandomGraph, GivesTheSameAfterEachRuleAndEachPairOfRules) {
  const Expected expected(GetParam());
  const std::vector<Pass> rules = each_rule();
  for (const Pass& first : rules) {
    SCOPED_TRACE(first.name);
    Graph graph = random_graph(GetParam());
    if (!run_passes(std::vector{first}, graph).front().changed) continue;
    const Copies after = expected.expect_same({first});
    expected.expect_same_behind(after, rules);
  }
}

TEST_P(RandomGraph, GivesTheSameInThreePrograms) {
  for (const char* passes : {"none", "all"}) {
    Graph graph = random_graph(GetParam());
    const TensorMap weights = random_weights(graph, GetParam(), /*special=*/true);
    run_passes(select_passes(passes, little_memory()), graph);
    EXPECT_EQ(difference(execute<float>(graph, weights, GetParam()),
                         execute<float>(split_by_binding_time(graph), weights, GetParam()), 0),
              "");
  }
}

/// The pipeline with products in fewer bits, in two parts: up to that pass, and behind it.
struct QuantizingPipeline {
  std::vector<Pass> quantizing, fusing;
  explicit QuantizingPipeline(Precision precision) {
    fusing = select_passes("all", {.precision = precision});
    const auto quantize = std::find_if(fusing.begin(), fusing.end(),
                                       [](const Pass& pass) { return pass.name == "quantize"; });
    quantizing.assign(fusing.begin(), quantize + 1);
    fusing.erase(fusing.begin(), quantize + 1);
  }
};

// What comes behind the quantization moves and fuses integers and does not change one.
TEST_P(RandomGraph, KeepsIntegersOnceTheyAreMade) {
  for (const Precision precision : {Precision::int8, Precision::int4, Precision::int4_log,
                                    Precision::bf16, Precision::fp16, Precision::stored}) {
    SCOPED_TRACE(to_string(precision));
    const QuantizingPipeline pipeline(precision);
    Graph graph = random_graph(GetParam());
    const TensorMap weights = random_weights(graph, GetParam(), /*special=*/false);
    run_passes(pipeline.quantizing, graph, {.allow_quantization = true});
    Graph fused = graph;
    run_passes(pipeline.fusing, fused, {.allow_reassociation = false, .allow_quantization = true});
    EXPECT_EQ(difference(execute<float>(graph, weights, GetParam()),
                         execute<float>(fused, weights, GetParam()), 0),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, ::testing::Range(std::uint64_t{0}, kGraphs));

TEST(RandomGraphs, HaveEveryOpThatHasAnEvaluation) {
  std::set<std::string_view> seen;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    for (const NodeId id : graph.nodes()) seen.insert(graph.node(id).op->name);
    // Fused ops come from passes.
    Graph lean = graph;
    run_passes(select_passes("all"), graph);
    run_passes(select_passes("all", little_memory()), lean);
    Graph integers = random_graph(seed);
    run_passes(QuantizingPipeline(Precision::int8).quantizing, integers,
               {.allow_quantization = true});
    for (const Graph* made : {&graph, &lean, &integers})
      for (const NodeId id : made->nodes()) seen.insert(made->node(id).op->name);
    for (const Activations activations : {Activations::fast, Activations::table}) {
      Graph approximate = random_graph(seed);
      run_pass(approximate_activations(activations), approximate, {.allow_approximation = true});
      for (const NodeId id : approximate.nodes()) seen.insert(approximate.node(id).op->name);
    }
  }
  for (const OpDef* op : all_ops().all())
    EXPECT_TRUE(!op->evaluate_f64 || op->name.starts_with("test_") || seen.contains(op->name))
        << op->name;
}

TEST(RandomGraphs, GivePassesSomethingToDo) {
  std::map<std::string, std::size_t> rewrites;
  for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
    Graph graph = random_graph(seed);
    for (const PassRecord& record : run_passes(select_passes("all", little_memory()), graph))
      for (const auto& [rule, count] : record.rewrites) rewrites[rule] += count;
  }
  for (const char* rule :
       {"order_operands", "multiply_by_one", "negate_twice", "slice_of_slice", "slice_of_concat",
        "select_of_select", "drop_zero_default", "fold_constant", "merge_common_subexpressions",
        "remove_dead_code", "products", "mixtures", "concat_of_adjacent_slices", "biased_scores",
        "scores", "biased_logits", "logits", "recurrent_layers"})
    EXPECT_GT(rewrites[rule], 0u) << rule;
}

}  // namespace
}  // namespace fuselage
