// Passes of another project.

#include <gmock/gmock.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/inspect/explain.h"
#include "fuselage/inspect/print.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/passes/pipeline.h"
#include "tests/extensions/program.h"

namespace fuselage {
namespace {

using support::step_graph;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Capture kValue{"value"};

/// abs(abs(x)) is abs(x).
Pass abs_pass(const std::string& name, const std::string& rule) {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), match[kValue]);
  };
  return {.name = name,
          .rules = {{.name = rule,
                     .pattern = match::op<op::Abs>({match::op<op::Abs>().named(kValue)}),
                     .build = build}}};
}

std::vector<std::string> names_of(const std::vector<Pass>& steps) {
  std::vector<std::string> names;
  for (const Pass& pass : steps) names.push_back(pass.name);
  return names;
}

std::ptrdiff_t place(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

TEST(ExtensionPasses, StandAtTheirPositions) {
  register_pass(abs_pass("ext_after_norm", "ext_after_norm_rule"), PassPosition::after("fuse_norm"),
                "a test");
  register_pass(abs_pass("ext_after_norm_too", "ext_after_norm_too_rule"),
                PassPosition::after("fuse_norm"), "a test");
  register_pass(abs_pass("ext_before_simplify", "ext_before_simplify_rule"),
                PassPosition::before("simplify.2"), "a test");
  register_pass(abs_pass("ext_before_own", "ext_before_own_rule"),
                PassPosition::before("ext_after_norm"), "a test");
  register_pass(abs_pass("ext_recurrence", "ext_recurrence_rule"),
                PassPosition::after("fuse_recurrence"), "a test");
  const std::vector<Pass> steps = default_pipeline();
  const std::vector<std::string> names = names_of(steps);
  const auto at = place(names, "fuse_norm");
  EXPECT_EQ(place(names, "ext_before_own"), at + 1);
  EXPECT_EQ(place(names, "ext_after_norm"), at + 2);
  EXPECT_EQ(place(names, "ext_after_norm_too"), at + 3);
  EXPECT_EQ(place(names, "ext_before_simplify"), place(names, "fuse_output") - 2);
  EXPECT_EQ(place(names, "ext_recurrence"), place(names, "split_products") - 1)
      << "its step is left out on the CPU, and its position is not";
  for (const Pass& pass : steps)
    if (pass.name.starts_with("ext_")) {
      EXPECT_EQ(pass.reason, "a test");
      EXPECT_EQ(pass.for_tables, pass.name == "ext_recurrence");
    }
  EXPECT_EQ(select_passes("ext-after-norm").size(), 1u);
  EXPECT_EQ(select_passes("ext_after_norm_rule")[0].name, "ext_after_norm");
  EXPECT_EQ(select_passes("all,-ext_after_norm").size(), steps.size() - 1);
}

TEST(ExtensionPasses, RunAndAreExplained) {
  register_pass(abs_pass("ext_abs", "ext_abs_twice"), PassPosition::before("simplify"), "a test");
  const Graph graph = step_graph(5, "%a = abs(%x)\n%y = abs(%a)\nreturn y = %y");
  const History history = trace(graph, make_optimizer({}));
  EXPECT_EQ(history.stages[1].name, "ext_abs");
  EXPECT_TRUE(history.stages[1].record.changed);
  EXPECT_THAT(print_verdicts(explain(history, "ext_abs_twice@*")),
              HasSubstr("ext_abs_twice fired in ext_abs"));
  EXPECT_NO_THROW(find_stages(history, "ext-abs"));
}

TEST(ExtensionPasses, AreRefused) {
  const auto refused = [](const Pass& pass, const PassPosition& position, const char* message) {
    const std::size_t before = default_pipeline().size();
    EXPECT_THAT([&] { register_pass(pass, position, "a test"); },
                ThrowsMessage<std::exception>(HasSubstr(message)));
    EXPECT_EQ(default_pipeline().size(), before);
  };
  const PassPosition end = PassPosition::after("fuse_linear");
  refused(abs_pass("simplify", "ext_r"), end, "there is a pass or rule 'simplify' already");
  refused(abs_pass("merge_states", "ext_r"), end, "there is a pass or rule 'merge_states'");
  refused(abs_pass("ext_p", "embeddings"), end, "choose another name for the rule");
  refused(abs_pass("all", "ext_r"), end, "'all' already");
  refused(abs_pass("Ext P", "ext_r"), end, "cannot be called 'Ext P'");
  refused(abs_pass("ext_p", "ext_r"), PassPosition::after("fuse_linera"),
          "there is no step 'fuse_linera'; did you mean 'fuse_linear'?");
  refused({.name = "ext_empty"}, end, "must have either rules or a function");
  Pass twice = abs_pass("ext_p", "ext_r");
  twice.rules.push_back(twice.rules[0]);
  refused(twice, end, "pass 'ext_p' has two rules called 'ext_r'");
}

}  // namespace
}  // namespace fuselage
