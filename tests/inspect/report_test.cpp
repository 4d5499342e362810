// What is made of a report: figures, text, JSON, pictures and the page.

#include "fuselage/inspect/report.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/cpu/executable.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/inspect/json.h"
#include "fuselage/inspect/page.h"
#include "fuselage/inspect/picture.h"
#include "fuselage/inspect/print.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/registry.h"
#include "graph/traversal.h"
#include "tests/inspect/support.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"}, kY{"y"};

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TensorMap small_weights() {
  TensorMap weights;
  weights.emplace("E", Tensor(DType::f32, {6, 4}));
  weights.emplace("W", Tensor(DType::f32, {4, 4}));
  weights.emplace("b", Tensor(DType::f32, {4}));
  return weights;
}

Report small_report() {
  Report report;
  report.model = "small.ir";
  report.history = swapped();
  for (std::size_t i = 0; i < report.history.stages.size(); ++i) report.stages.push_back(i);
  return report;
}

/// Runs three steps of one batch.
void run_three_steps(const Executable& executable) {
  const auto worker = executable.make_worker();
  const std::vector<WordIds> sentences{{1, 2, 0}};
  worker->begin(sentences, {.hypotheses = {1}, .steps = {3}});
  const std::vector<std::int32_t> zero{0};
  const std::vector<std::int32_t> none{-1};
  for (std::int32_t step = 0; step < 3; ++step) {
    const std::vector<std::int32_t> position{step};
    worker->step({.parents = step == 0 ? none : zero,
                  .parent_sentence = zero,
                  .hypothesis_parent = zero,
                  .words = step == 0 ? none : zero,
                  .positions = position});
  }
}

/// Runs three steps of one batch and measures.
void add_profile(Report& report) {
  report.profile.emplace();
  const auto executable =
      compile_cpu(report.history.programs, small_weights(), {.profile = &*report.profile});
  for (std::size_t i = 0; i < report.plan.size(); ++i)
    report.plan[i] = executable->plan(static_cast<BindingTime>(i));
  run_three_steps(*executable);
}

TEST(Report, MeasuresWhatSeveralWorkersDo) {
  Report report = small_report();
  const auto shared = std::make_shared<SharedProfile>();
  const auto executable =
      compile_cpu(report.history.programs, small_weights(), {.shared_profile = shared});
  run_three_steps(*executable);
  run_three_steps(*executable);
  const Profile times = shared->times();
  EXPECT_EQ(times.batches, 2u);
  // The first step of each worker stands for eight.
  EXPECT_EQ(times.steps, 16u);
  EXPECT_GT(measured_seconds(times), 0);
  std::uint64_t runs = 0;
  for (const NodeTime& time : times.step) runs = std::max(runs, time.runs);
  EXPECT_EQ(runs, 16u);
}

TEST(Report, MeasuresEachNodeThatIsLaunched) {
  Report report = small_report();
  add_profile(report);
  EXPECT_EQ(report.profile->batches, 1u);
  EXPECT_EQ(report.profile->steps, 3u);
  EXPECT_GT(measured_seconds(*report.profile), 0);
  double share = 0;
  for (const StageNode& node : nodes_of(report.history, report.history.stages.back())) {
    const std::optional<MeasuredTime> measured = time_of(report, node);
    const auto plan = plan_by_node(report, *node.program);
    const auto found = plan.find(node.id);
    EXPECT_EQ(measured.has_value(), found != plan.end() && found->second.launched) << node.key;
    if (!measured) continue;
    EXPECT_EQ(measured->time.runs, *node.program == BindingTime::step ? 3u : 1u);
    share += measured->share;
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_THAT(print_stage(report, report.history.stages.back(), Part::step),
              HasSubstr("ms in 3 runs"));
}

TEST(Report, CountsNodesKernelsAndWork) {
  const Report report = small_report();
  const auto executable = compile_cpu(report.history.programs, small_weights());
  const Workload workload{.source_length = 10, .target_length = 5, .beam = 2, .batch = 4};
  const Figures figures = measure(report.history.programs, *executable, workload);
  const ProgramFigures& step = figures[2];
  // A selection, a product, two sums and tanh; the product reads through the selection.
  EXPECT_EQ(step.nodes, 5);
  EXPECT_EQ(step.kernels, 4);
  // Ten rows a sentence: 2 · 4 · 4 for the product and 4 each for sums, more for tanh.
  EXPECT_GE(step.flop, 10 * (32 + 12));
  EXPECT_EQ(step.weight_bytes, 4 * (16 + 4));
  EXPECT_GT(step.arena_bytes, 0);
  EXPECT_EQ(figures[0].nodes, 0);
  EXPECT_EQ(figures[1].weight_bytes, 4 * 24);
}

TEST(Report, FindsFusionsAndMoves) {
  Optimizer optimizer;
  // tanh(sum) at once, as if it were one op.
  const Rule fuse{.name = "fuse",
                  .pattern = match::op<op::Tanh>(
                      {match::op<op::Add>({match::any(kX), match::any(kY)}).shared()}),
                  .build = [](Rewriter& rewriter, const Match& match) {
                    const ValueId x = match[kX];
                    const ValueId y = match[kY];
                    const ValueId result = match.result();
                    rewriter.replace(result, rewriter.add(op::Max{}, {x, y}));
                  }};
  optimizer.passes.push_back({.name = "fuse_all", .rules = {fuse}, .run = nullptr});
  Optimizer law = make_optimizer({.passes = "commute_rows"});
  optimizer.passes.push_back(law.passes.front());
  const Summary summary = summarize(trace(small_model(), optimizer));
  ASSERT_EQ(summary.fusions.size(), 1u);
  EXPECT_EQ(summary.fusions[0].node, "dec.l1.out");
  EXPECT_THAT(summary.fusions[0].ops, ::testing::ElementsAre("tanh", "add"));
  EXPECT_THAT(summary.fusions[0].rules, ::testing::Contains("fuse"));
  ASSERT_FALSE(summary.moves.empty());
  EXPECT_EQ(summary.moves[0].node, "dec.l1.product");
  EXPECT_EQ(summary.moves[0].from, "hyp");
  EXPECT_EQ(summary.moves[0].to, "sentence");
  EXPECT_EQ(summary.moves[0].to_time, BindingTime::source);
  const std::string text = print_summary(summary);
  EXPECT_THAT(text, HasSubstr("fused max dec.l1.out <- tanh add by"));
  EXPECT_THAT(text, HasSubstr("moved matmul dec.l1.product: hyp (step) -> sentence (source)"));
}

TEST(Report, TextParsesBack) {
  const Report report = small_report();
  const Stage& planned = report.history.stages.back();
  for (const Stage& stage : report.history.stages)
    EXPECT_TRUE(same_graph(
        parse_graph(print_stage(report, stage, Part::whole), stage.name, all_ops()), stage.graph));
  for (const Part part : {Part::load, Part::source, Part::step})
    EXPECT_TRUE(same_graph(parse_graph(print_stage(report, planned, part), "program", all_ops()),
                           program(report.history.programs, static_cast<BindingTime>(part))));
  EXPECT_THAT([] { part_of("stepp"); }, ThrowsMessage<Error>(HasSubstr("did you mean 'step'?")));
}

TEST(Report, JsonHasAllNodesAndTheirEdges) {
  Report report = small_report();
  add_profile(report);
  const auto json = nlohmann::json::parse(print_json(report));
  EXPECT_EQ(json.at("format"), "fuselage.dump");
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("kind"), "graph");
  ASSERT_EQ(json.at("stages").size(), report.history.stages.size());
  for (std::size_t i = 0; i < report.history.stages.size(); ++i) {
    const auto& stage = json.at("stages")[i];
    EXPECT_EQ(stage.at("name"), report.history.stages[i].name);
    EXPECT_EQ(stage.at("nodes").size(), nodes_of(report.history, report.history.stages[i]).size());
    std::set<std::string> keys;
    for (const auto& node : stage.at("nodes")) {
      EXPECT_TRUE(keys.insert(node.at("key")).second);
      for (const std::string operand : node.at("operands"))
        EXPECT_TRUE(keys.contains(operand.substr(0, operand.find(':')))) << operand;
      for (const char* field : {"name", "op", "results", "attributes", "binding", "layer", "stored",
                                "origins", "rules", "cost"})
        EXPECT_TRUE(node.contains(field)) << field;
    }
    for (const auto& output : stage.at("outputs"))
      EXPECT_TRUE(keys.contains(output.at("node").get<std::string>()));
  }
  EXPECT_EQ(json.at("rewrites").size(), 1u);
  EXPECT_EQ(json.at("profile").at("steps"), 3);
}

TEST(Report, PooledJsonHasEachNodeOnce) {
  const Report report = small_report();
  const auto full = nlohmann::json::parse(print_json(report));
  const auto pooled = nlohmann::json::parse(print_pooled_json(report));
  std::set<std::string> distinct;
  for (std::size_t i = 0; i < full.at("stages").size(); ++i) {
    const auto& nodes = full.at("stages")[i].at("nodes");
    const auto& numbers = pooled.at("stages")[i].at("nodes");
    ASSERT_EQ(nodes.size(), numbers.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      EXPECT_EQ(nodes[n], pooled.at("nodes").at(numbers[n].get<std::size_t>()));
      distinct.insert(nodes[n].dump());
    }
  }
  EXPECT_EQ(pooled.at("nodes").size(), distinct.size());
}

TEST(Report, NamesThatAreNoTextMakeNoBrokenFiles) {
  Report report = small_report();
  report.model = "</script>\xff\"";
  const auto json = nlohmann::json::parse(print_json(report));
  EXPECT_THAT(json.at("model").get<std::string>(), HasSubstr("\xef\xbf\xbd"));
  EXPECT_THAT(print_page(report), Not(HasSubstr("</script>\xef")));
}

TEST(Report, ThePageLoadsNothing) {
  const std::string page = print_page(small_report());
  EXPECT_THAT(page, HasSubstr("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("dec.l1.product"));
  for (const char* loader : {" src=", " href=", "@import", "url(h", "fetch(", "{{"})
    EXPECT_THAT(page, Not(HasSubstr(loader)));
}

TEST(Picture, FramesNodesByProgramAndLayer) {
  const Report report = small_report();
  const std::string dot = print_dot(report, report.history.stages.back());
  for (const char* part : {"cluster_source", "cluster_step", "dec.l1", "matmul"})
    EXPECT_THAT(dot, HasSubstr(part));
  // What the source program hands on is no node of its own.
  EXPECT_THAT(dot, Not(HasSubstr("import")));
  EXPECT_THAT(print_dot(report, report.history.stages.back(), BindingTime::step),
              HasSubstr("import"));
}

TEST(Picture, ComesFromGraphviz) {
  const Report report = small_report();
  const std::string dot = print_dot(report, report.history.stages[0]);
  const std::string path = std::getenv("PATH");
  ASSERT_EQ(setenv("PATH", "/nonexistent", 1), 0);
  EXPECT_THAT([&] { render_svg(dot); }, ThrowsMessage<Error>(HasSubstr("package graphviz")));
  ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
  EXPECT_THAT(render_svg(dot), HasSubstr("<svg"));
  EXPECT_THAT([&] { render_svg("digraph {"); },
              ThrowsMessage<Error>(HasSubstr("'dot' failed with exit status")));
}

}  // namespace
}  // namespace fuselage
