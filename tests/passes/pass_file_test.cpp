#include "pass_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "execute.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/passes/pipeline.h"
#include "graph/traversal.h"
#include "passes/rewrite/pass_manager.h"

namespace fuselage {
namespace {

std::vector<PassCase> all_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(FUSELAGE_SOURCE_DIR "/tests/passes"))
    if (entry.path().extension() == ".ir") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<PassCase> cases;
  for (const auto& path : paths) {
    try {
      for (PassCase& test : read_pass_cases(path.string())) cases.push_back(std::move(test));
    } catch (const Error& error) {
      // Thrown here, it would end the program before any test runs.
      cases.push_back({.name = path.stem().string() + "_cannot_be_read", .target = error.what()});
    }
  }
  return cases;
}

/// The steps that a case's pass is among; some passes are there only without quantization.
std::vector<Pass> steps_for(const PassCase& test) {
  PipelineOptions options{.commute = test.commute,
                          .precision = test.precision,
                          .activations = test.activations,
                          .kv_cache = KvCache::int8,
                          .recurrent_kernels = true,
                          .rounding_kernels = true,
                          .appending_kernels = true,
                          .position_kernels = true};
  std::vector<Pass> steps = default_pipeline(options);
  options.precision = Precision::fp32;
  for (const bool rounds : {true, false}) {
    options.rounding_kernels = rounds;
    for (Pass& pass : default_pipeline(options)) steps.push_back(std::move(pass));
  }
  return steps;
}

/// The pass that a case runs: a whole one, or a pass of one rule.
Pass pass_of(const PassCase& test) {
  for (const Pass& pass : steps_for(test)) {
    if (!test.single_rule && pass.name == test.target) return pass;
    for (const Rule& rule : pass.rules)
      if (test.single_rule && rule.name == test.target) return {.name = rule.name, .rules = {rule}};
  }
  throw Error(
      fmt::format("{}:{}: there is no pass or rule '{}'", test.file, test.line, test.target));
}

PassOptions strict() {
  PassOptions options;
  options.verify_each_rewrite = true;
  options.allow_approximation = true;
  options.allow_quantization = true;
  return options;
}

/// Products of vectors of a few numbers up to 1 in size have less of an error than this in 8 bits
/// or more, and where the nearest power of two may be a third away.
double quantization_error(Precision precision) {
  return precision == Precision::int4 || precision == Precision::int4_log ||
                 precision == Precision::stored
             ? 0.7
             : 0.05;
}

/// The largest difference that the rules which were applied allow; 0: bits must agree.
double tolerance_of(const Pass& pass, const PassRecord& record, Precision precision) {
  double tolerance = 0;
  for (const Rule& rule : pass.rules) {
    if (rule.numerics.kind == NumericClass::exact || !record.rewrites.contains(rule.name)) continue;
    tolerance = std::max({tolerance, rule.numerics.tolerance, 1e-5});
    if (rule.numerics.kind == NumericClass::quantizes)
      tolerance = std::max(tolerance, quantization_error(precision));
  }
  return tolerance;
}

/// Runs both graphs on the same random inputs.
void expect_same_results(const Graph& before, const Graph& after, double tolerance) {
  ASSERT_FALSE(before.outputs().empty()) << "a case without outputs shows nothing";
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    // What is equal in real arithmetic says nothing about infinities.
    const bool special = tolerance == 0 && seed % 2 == 1;
    const TensorMap weights = random_weights(before, seed, special);
    EXPECT_EQ(difference(execute<float>(before, weights, seed),
                         execute<float>(after, weights, seed), tolerance),
              "");
  }
}

/// The one guard refuses, and without it the rule would be applied.
void expect_refusal(const PassCase& test, const Pass& pass, const Graph& graph,
                    const PassRecord& record) {
  ASSERT_TRUE(test.single_rule) << "a guard is one of a rule";
  ASSERT_EQ(record.refusals.size(), 1u);
  EXPECT_EQ(record.refusals[0].guard, test.guard);
  EXPECT_NE(record.refusals[0].reason, "");
  std::size_t matches = 0;
  for (const NodeId id : graph.nodes())
    for (const Match& match : find_matches(pass.rules[0], graph, id)) {
      const std::vector<Refusal> refusals = ask_guards(pass.rules[0], match);
      matches += refusals.size() == 1 && refusals[0].guard == test.guard;
    }
  EXPECT_GT(matches, 0u);
}

class PassFile : public ::testing::TestWithParam<PassCase> {};

TEST_P(PassFile, GivesWhatIsWritten) {
  const PassCase& test = GetParam();
  ASSERT_NE(test.line, 0u) << test.target;
  SCOPED_TRACE(test.file + ":" + std::to_string(test.line));
  const Pass pass = pass_of(test);
  const Graph before = parse_case(test, test.before);
  verify(before);
  Graph graph = before;
  const PassRecord record = run_pass(pass, graph, strict());

  EXPECT_EQ(record.changed, test.outcome == PassCase::Outcome::rewritten);
  if (test.outcome == PassCase::Outcome::refused) expect_refusal(test, pass, graph, record);
  if (test.outcome != PassCase::Outcome::rewritten) {
    EXPECT_TRUE(same_graph(graph, before)) << print_graph(graph);
    return;
  }
  const Graph after = parse_case(test, test.after);
  EXPECT_TRUE(same_graph(graph, after)) << "the pass gives\n"
                                        << print_graph(graph) << "instead of\n"
                                        << print_graph(after);
  expect_same_results(before, graph, tolerance_of(pass, record, test.precision));
  EXPECT_FALSE(run_pass(pass, graph, strict()).changed) << "the pass does not rest at its result";
}

INSTANTIATE_TEST_SUITE_P(Cases, PassFile, ::testing::ValuesIn(all_cases()), [](const auto& test) {
  const PassCase& read = test.param;
  return read.line == 0 ? read.name : read.target + "_" + read.name;
});

TEST(PassFiles, CoverEveryRuleAndGuard) {
  std::set<std::string> rewritten, unchanged;
  std::set<std::pair<std::string, std::string>> refused;
  for (const PassCase& test : all_cases()) {
    if (test.outcome == PassCase::Outcome::rewritten) rewritten.insert(test.target);
    if (test.outcome == PassCase::Outcome::unchanged) unchanged.insert(test.target);
    if (test.outcome == PassCase::Outcome::refused) refused.insert({test.target, test.guard});
  }
  for (const Pass& pass : default_pipeline({.recurrent_kernels = true})) {
    for (const Rule& rule : pass.rules) {
      EXPECT_TRUE(rewritten.contains(rule.name)) << rule.name << " has no case that shows it work";
      for (const Guard& guard : all_guards(rule))
        EXPECT_TRUE(refused.contains({rule.name, guard.name}))
            << rule.name << " has no case that " << guard.name << " refuses";
    }
    if (!pass.rules.empty()) continue;
    EXPECT_TRUE(rewritten.contains(pass.name)) << pass.name << " has no positive case";
    EXPECT_TRUE(unchanged.contains(pass.name)) << pass.name << " has no negative case";
  }
}

}  // namespace
}  // namespace fuselage
