#include "passes/rewrite/pass_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/passes/pipeline.h"
#include "graph/traversal.h"
#include "support.h"

namespace fuselage::pass_manager_test {
namespace {

constexpr Capture kX{"x"};

using match::any, match::op;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Graph chain() {
  return graph_of(R"(
%w = param() {name = "w", dims = [4]}
%a = tanh(%w)
%b = neg(%a)
return y = %b
)");
}

/// Turns an op of one operand into another.
template <OpStruct From, OpStruct To>
Rule exchange(const std::string& name) {
  return {.name = name,
          .pattern = op<From>({any(kX)}),
          .build = [](Rewriter& rewriter, const Match& match) {
            rewriter.replace(match.result(), rewriter.add(To{}, {match[kX]}));
          }};
}

template <typename F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool make_sigmoid(Rewriter& rewriter) {
  rewriter.begin("rule", {});
  rewriter.replace(find_value(rewriter.graph(), "b"),
                   rewriter.add(op::Sigmoid{}, {find_value(rewriter.graph(), "a")}));
  return rewriter.finish();
}

TEST(PassManager, RecordsWhatAPassDid) {
  Graph graph = chain();
  const Pass pass{
      .name = "pass",
      .rules = {exchange<op::Tanh, op::Relu>("to_relu"), exchange<op::Neg, op::Abs>("to_abs")}};
  const PassRecord record = run_pass(pass, graph);
  EXPECT_TRUE(record.changed);
  EXPECT_EQ(record.name, "pass");
  EXPECT_THAT(record.rewrites, ElementsAre(Pair("to_abs", 1u), Pair("to_relu", 1u)));
  EXPECT_FALSE(run_pass(pass, graph).changed);
}

TEST(PassManager, KeepsRefusalsWithTheirReasons) {
  Graph graph = chain();
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.guards = {{"never", [](const Match&) { return std::optional<std::string>("it is late"); }},
                 {"always", [](const Match&) { return std::optional<std::string>(); }}};
  const PassRecord record = run_pass({.name = "pass", .rules = {rule}}, graph);
  EXPECT_FALSE(record.changed);
  ASSERT_EQ(record.refusals.size(), 1u);
  EXPECT_EQ(record.refusals[0].rule, "to_relu");
  EXPECT_THAT(record.refusals[0].node, HasSubstr("tanh 'a' (test:"));
  EXPECT_EQ(record.refusals[0].guard, "never");
  EXPECT_EQ(record.refusals[0].reason, "it is late");
}

TEST(PassManager, ForgetsRefusalsThatNoLongerHold) {
  Graph graph = graph_of(R"(
%w = param() {name = "w", dims = [4]}
%a = tanh(%w)
%b = neg(%a)
%c = relu(%a)
return y = %b
)");
  Pass pass{.name = "pass",
            .rules = {{.name = "join",
                       .pattern = op<op::Neg>({op<op::Tanh>({any(kX)})}),
                       .build = [](Rewriter& rewriter, const Match& match) {
                         rewriter.replace(match.result(), rewriter.add(op::Sigmoid{}, {match[kX]}));
                       }}}};
  EXPECT_EQ(run_pass(pass, graph).refusals.size(), 1u);
  // Once the other user is gone the rule is tried again and fits.
  pass.rules.push_back({.name = "past_tanh",
                        .pattern = op<op::Relu>({op<op::Tanh>({any(kX)}).shared()}),
                        .build = [](Rewriter& rewriter, const Match& match) {
                          rewriter.replace(match.result(), match[kX]);
                        }});
  const PassRecord record = run_pass(pass, graph);
  EXPECT_THAT(record.rewrites, ElementsAre(Pair("join", 1u), Pair("past_tanh", 1u)));
  EXPECT_THAT(record.refusals, IsEmpty());
}

TEST(PassManager, LeavesOutRulesWhoseNumericsAreNotAllowed) {
  for (const NumericClass kind :
       {NumericClass::reassociates, NumericClass::approximates, NumericClass::quantizes}) {
    Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
    rule.numerics.kind = kind;
    const Pass pass{.name = "pass", .rules = {rule}};
    Graph graph = chain();
    PassOptions options{.allow_reassociation = false};
    const PassRecord record = run_pass(pass, graph, options);
    EXPECT_FALSE(record.changed);
    EXPECT_THAT(record.skipped, ElementsAre("to_relu"));
    options = {.allow_reassociation = kind == NumericClass::reassociates,
               .allow_approximation = kind == NumericClass::approximates,
               .allow_quantization = kind == NumericClass::quantizes};
    EXPECT_TRUE(run_pass(pass, graph, options).changed) << to_string(kind);
  }
}

TEST(PassManager, NamesAPassThatReportsNoChange) {
  const Pass pass{.name = "liar", .run = [](Rewriter& rewriter) {
                    make_sigmoid(rewriter);
                    return false;
                  }};
  Graph graph = chain();
  EXPECT_THAT(message_of([&] { run_pass(pass, graph); }),
              HasSubstr("pass 'liar' changed the graph, but reports no change"));
  Graph trusted = chain();
  EXPECT_FALSE(run_pass(pass, trusted, {.check_hash = false}).changed);
}

TEST(PassManager, NamesAPassThatReportsAChangeOfNothing) {
  const Pass pass{.name = "liar", .run = [](Rewriter&) { return true; }};
  Graph graph = chain();
  EXPECT_THAT(message_of([&] { run_pass(pass, graph); }),
              HasSubstr("pass 'liar' reports a change, but the graph is what it was"));
  EXPECT_TRUE(run_pass(pass, graph, {.check_hash = false}).changed);
}

TEST(PassManager, NamesARuleThatBuildsNothing) {
  const Pass pass{
      .name = "pass",
      .rules = {
          {.name = "idle", .pattern = op<op::Tanh>(), .build = [](Rewriter&, const Match&) {}}}};
  Graph graph = chain();
  EXPECT_THAT(message_of([&] { run_pass(pass, graph); }),
              AllOf(HasSubstr("rule 'idle'"), HasSubstr("tanh 'a'")));
}

TEST(PassManager, NamesRulesThatUndoEachOther) {
  const Pass pass{
      .name = "pass",
      .rules = {exchange<op::Tanh, op::Relu>("there"), exchange<op::Relu, op::Tanh>("back"),
                exchange<op::Neg, op::Abs>("aside")}};
  Graph graph = chain();
  const std::string message = message_of([&] { run_pass(pass, graph); });
  EXPECT_THAT(message, AllOf(HasSubstr("pass 'pass'"), HasSubstr("back, there"),
                             ::testing::Not(HasSubstr("aside"))));
  Graph again = chain();
  EXPECT_THAT(message_of([&] { run_pass(pass, again, {.max_rewrites = 10}); }),
              HasSubstr("after 11"));
}

/// Makes a scan's value depend on what the scan collects.
bool feed_back(Rewriter& rewriter) {
  const Graph& graph = rewriter.graph();
  rewriter.begin("rule", {});
  rewriter.set_operand({find_node(graph, "row"), 0}, find_value(graph, "all"));
  return rewriter.finish();
}

TEST(PassManager, NamesAPassThatBreaksTheGraph) {
  const Pass pass{.name = "breaker", .run = feed_back};
  const auto make = [] {
    return graph_of(R"(
domain loop = scan of src
%table = param() {name = "table", domain = words, dims = [4]}
%x = select_rows(%table) {via = [src.word]}
%row = select_rows(%x) {via = [loop.source]}
%t = tanh(%row)
%all = collect(%t)
return y = %all
)");
  };
  Graph graph = make();
  EXPECT_THAT(message_of([&] { run_pass(pass, graph); }),
              HasSubstr("pass 'breaker' broke the graph"));
  Graph unchecked = make();
  EXPECT_NO_THROW(run_pass(pass, unchecked, {.verify = false}));
}

TEST(PassManager, NamesTheRuleThatBreaksTheGraph) {
  // The second rewrite repairs what the first one broke: only a look after each rewrite sees it.
  const auto set_operand = [](const char* from) {
    return [from](Rewriter& rewriter, const Match& match) {
      rewriter.set_operand({match.root(), 0}, find_value(rewriter.graph(), from));
    };
  };
  const auto takes = [](const char* name) {
    return [name](const Graph& graph, const Node& node) {
      return graph.value(node.operands[0]).name == name;
    };
  };
  const Pass pass{.name = "pass",
                  .rules = {{.name = "breaks",
                             .pattern = op<op::Tanh>({any(kX)}).where(takes("w")),
                             .build = set_operand("v")},
                            {.name = "repairs",
                             .pattern = op<op::Tanh>({any(kX)}).where(takes("v")),
                             .build = set_operand("u")}}};
  const auto make = [] {
    return graph_of(R"(
%u = param() {name = "u", dims = [4]}
%v = param() {name = "v", dims = [2]}
%w = param() {name = "w", dims = [4]}
%a = tanh(%w)
return y = %a, u = %u, v = %v, w = %w
)");
  };
  Graph graph = make();
  EXPECT_NO_THROW(run_pass(pass, graph));
  Graph strict = make();
  EXPECT_THAT(message_of([&] { run_pass(pass, strict, {.verify_each_rewrite = true}); }),
              AllOf(HasSubstr("rule 'breaks' broke the graph"), HasSubstr("tanh 'a'")));
}

TEST(PassManager, CallsBackAfterEachPass) {
  Graph graph = chain();
  std::vector<std::pair<std::string, bool>> calls;
  PassOptions options;
  options.on_after_pass = [&](std::string_view name, const Graph& seen, bool changed) {
    EXPECT_EQ(&seen, &graph);
    calls.emplace_back(name, changed);
  };
  const Pass first{.name = "first", .rules = {exchange<op::Tanh, op::Relu>("to_relu")}};
  const std::vector<Pass> passes{first, first};
  EXPECT_EQ(run_passes(passes, graph, options).size(), 2u);
  EXPECT_THAT(calls, ElementsAre(Pair("first", true), Pair("first", false)));
}

TEST(Pipeline, SelectsPassesByName) {
  EXPECT_EQ(select_passes("all").size(), default_pipeline().size());
  EXPECT_THAT(select_passes("none"), IsEmpty());
  const auto passes = select_passes("remove_dead_code,simplify");
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].name, "remove_dead_code");
  EXPECT_EQ(passes[1].name, "simplify");
}

TEST(Pipeline, SelectsOneOccurrenceOfAPass) {
  const auto runs = [](const std::string& names) {
    std::vector<std::size_t> occurrences;
    for (const Pass& pass : select_passes(names))
      if (pass.name == "simplify") occurrences.push_back(pass.occurrence);
    return occurrences;
  };
  EXPECT_THAT(runs("all"), ElementsAre(1, 2, 3));
  EXPECT_THAT(runs("all,-simplify.2"), ElementsAre(1, 3));
  EXPECT_THAT(runs("simplify.3,fold_constants,simplify"), ElementsAre(3, 1));
  EXPECT_THROW(select_passes("simplify.4"), Error);
}

TEST(PassManager, RecordsTheTimeOfAPass) {
  Graph graph = chain();
  const PassRecord record =
      run_pass({.name = "pass", .rules = {exchange<op::Tanh, op::Relu>("to_relu")}}, graph);
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(record.occurrence, 1u);
}

TEST(Pipeline, NamesUnknownPassesAndListsTheOthers) {
  const std::string message = message_of([] { select_passes("simplify,fold_constnts"); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("'fold_constnts'"), HasSubstr("did you mean 'fold_constants'"),
                    HasSubstr("remove_dead_code")));
  EXPECT_THROW(select_passes(""), Error);
  EXPECT_THROW(select_passes("simplify,"), Error);
}

// A pass may stand in several lines.
TEST(Pipeline, HasAReasonForEachLineAndNamesForAll) {
  std::set<std::string> passes;
  std::vector<std::string> names;
  for (const Pass& pass : default_pipeline()) {
    EXPECT_NE(pass.reason, "");
    if (!passes.insert(pass.name).second) continue;
    names.push_back(pass.name);
    for (const Rule& rule : pass.rules) names.push_back(rule.name);
  }
  std::vector<std::string> unique = names;
  std::sort(unique.begin(), unique.end());
  EXPECT_EQ(std::unique(unique.begin(), unique.end()), unique.end());
}

// --- Mistakes in rules ---

std::string message_of(const Pass& pass) {
  Graph graph = chain();
  try {
    run_pass(pass, graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "no error";
}

TEST(RuleCheck, AGuardReadsWhatThePatternCaptures) {
  static constexpr Capture kOther{"other"};
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.guards = {same_type(kOther)};
  EXPECT_EQ(message_of({.name = "pass", .rules = {rule}}),
            "internal error: guard 'same_type' of rule 'to_relu' reads 'other', which the pattern "
            "does not capture");
}

TEST(RuleCheck, TwoCapturesOfOneTextAreRefused) {
  static constexpr Capture kFirst{"same"}, kSecond{"same"};
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.pattern = match::op<op::Mul>({match::any(kFirst), match::any(kSecond)});
  EXPECT_THAT(message_of({.name = "pass", .rules = {rule}}),
              HasSubstr("rule 'to_relu' has two captures called 'same'"));
  rule.pattern = match::op<op::Mul>({match::any(kFirst), match::any(kFirst)});
  EXPECT_NO_THROW(check_rule(rule));
}

TEST(RuleCheck, TwoRulesOfOneNameAreRefused) {
  const Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  EXPECT_THAT(message_of({.name = "pass", .rules = {rule, rule}}),
              HasSubstr("pass 'pass' has two rules called 'to_relu'"));
}

TEST(RuleCheck, ARuleBuilds) {
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.build = nullptr;
  EXPECT_THAT(message_of({.name = "pass", .rules = {rule}}), HasSubstr("'to_relu' has no builder"));
}

TEST(RuleCheck, MistakesOfGuardsAndBuildersNameTheRule) {
  static constexpr Capture kOther{"other"};
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.build = [&](Rewriter&, const Match& match) { (void)match[kOther]; };
  EXPECT_THAT(message_of({.name = "pass", .rules = {rule}}),
              AllOf(HasSubstr("rule 'to_relu' of pass 'pass'"), HasSubstr("captures no 'other'")));
  rule.guards = {{"careless", [&](const Match& match) -> std::optional<std::string> {
                    return match.graph().show(match.type(kOther));
                  }}};
  EXPECT_THAT(message_of({.name = "pass", .rules = {rule}}),
              AllOf(HasSubstr("guard 'careless' of rule 'to_relu'"), HasSubstr("no 'other'")));
}

TEST(RuleAnalysis, RunsOnceForGuardsAndBuilder) {
  int runs = 0;
  Rule rule = exchange<op::Tanh, op::Relu>("to_relu");
  rule.analyze = [&](const Match&) -> std::any { return ++runs; };
  const auto reads = [](const Match& match) -> std::optional<std::string> {
    return match.analysis<int>() == 1 ? std::nullopt : std::optional<std::string>("another");
  };
  rule.guards = {{"first", reads}, {"second", reads}};
  Graph graph = chain();
  EXPECT_TRUE(run_pass({.name = "pass", .rules = {rule}}, graph).changed);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace fuselage::pass_manager_test
