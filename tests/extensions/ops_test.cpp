// Ops of another project: registration, row functions, and ops with an evaluation alone.

#include "tests/extensions/ops.h"

#include <gmock/gmock.h>

#include <bit>
#include <thread>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/runtime/isa.h"
#include "fuselage/base/error.h"
#include "fuselage/inspect/summary.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "tests/extensions/program.h"

namespace fuselage {
namespace {

using support::Gate;
using support::random_weights_of;
using support::run_step;
using support::step_graph;
using support::step_kernels;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::ThrowsMessage;

class ExtensionOps : public ::testing::Test {
 protected:
  void SetUp() override { support::register_example_ops(); }
};

std::vector<Type> infer_first(const InferContext& in) { return {in.operand(0)}; }

TEST_F(ExtensionOps, AreKnownEverywhere) {
  ASSERT_NE(all_ops().find("ext_gate"), nullptr);
  EXPECT_EQ(&find_op("ext_gate"), &op_def<Gate>());
  const Graph graph = step_graph(5, "%y = ext_gate(%x, %scalar, %x) {factor = 0.5}\nreturn y = %y");
  EXPECT_THAT(print_graph(graph), HasSubstr("ext_gate(%x, %scalar, %x) {factor = 0.5}"));
  EXPECT_EQ(graph.producer(graph.outputs()[0].value).as<Gate>().factor, 0.5);
}

TEST_F(ExtensionOps, ARefusedRegistrationAddsNothing) {
  const OpDef fresh{.name = "ext_fresh", .summary = "A test.", .infer = infer_first};
  OpDef taken = fresh;
  taken.name = "add";
  EXPECT_THAT(
      [&] {
        register_ops({fresh, taken});
      },
      ThrowsMessage<Error>(HasSubstr("two ops are called 'add'")));
  OpDef former = fresh;
  former.name = "ext_former";
  former.former_names = {"ext_gate"};
  EXPECT_THAT(
      [&] {
        register_ops({fresh, former});
      },
      ThrowsMessage<Error>(HasSubstr("two ops are called 'ext_gate'")));
  OpDef bad = fresh;
  bad.infer = nullptr;
  EXPECT_THAT([&] { register_ops({bad}); },
              ThrowsMessage<Error>(HasSubstr("op 'ext_fresh': it has no infer")));
  EXPECT_EQ(all_ops().find("ext_fresh"), nullptr);
}

TEST_F(ExtensionOps, AreRegisteredWhileOthersRead) {
  const std::size_t before = all_ops().all().size();
  const OpDef* const add = all_ops().find("add");
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("ext_op_" + std::to_string(i));
  std::thread writer([&] {
    for (const std::string& name : names)
      register_ops({{.name = name, .summary = "A test.", .infer = infer_first}});
  });
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(all_ops().find("add"), add);
  writer.join();
  EXPECT_EQ(all_ops().all().size(), before + names.size());
  static const std::vector<std::string> kept = std::move(names);  // The registry refers to them.
}

TEST_F(ExtensionOps, TypesOfRowFunctionsFollowFromTheOperands) {
  const auto type_of = [](const std::string& equation) {
    const Graph graph = step_graph(5, equation + "\nreturn y = %y");
    return graph.show(graph.value(graph.outputs()[0].value).type);
  };
  EXPECT_EQ(type_of("%y = ext_gate(%scalar, %x, %scalar)"), "hyp f32[9]");
  EXPECT_EQ(type_of("%y = ext_gate(%bias, %scalar, %bias)"), "hyp f32[5]");
  EXPECT_EQ(type_of("%y = ext_share(%bias)"), "f32[5]");
  EXPECT_THROW(type_of("%y = ext_gate(%x, %bias, %x)"), Error);
}

/// An entry that runs an op on its reference evaluation.
cpu::KernelEntry by_reference(std::string_view op) {
  cpu::KernelEntry entry = cpu::reference_kernels()[0];
  entry.op = op;
  return entry;
}

class RowFunctionKernels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    support::register_example_ops();
    cpu::force_isa(GetParam());
  }
};

void expect_same_bits(const std::vector<float>& got, const std::vector<float>& want, int columns) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(want[i]))
        << columns << " columns, element " << i;
}

constexpr int kOddSizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 100, 255, 257, 600};

TEST_P(RowFunctionKernels, AProductTakesTheOpWithTheBitsOfTheReference) {
  const cpu::KernelEntry reference[] = {by_reference("ext_gate")};
  for (const int columns : kOddSizes) {
    Graph graph = step_graph(columns, R"(%p = matmul(%x, %w)
%g = ext_gate(%p, %scalar, %bias) {factor = 0.3}
%y = add(%g, %bias)
return y = %y)");
    const TensorMap weights = random_weights_of(graph);
    const auto plain = compile_cpu(split_by_binding_time(graph), weights, {.kernels = reference});
    const auto rows = compile_cpu(split_by_binding_time(graph), weights);
    const auto fused = support::fused_executable(graph, weights);
    EXPECT_THAT(step_kernels(*plain), Contains(Pair("reference", 1)));
    EXPECT_THAT(step_kernels(*rows), Contains(Pair("row_function", 1)));
    if (columns > 1) {
      EXPECT_THAT(step_kernels(*fused), Contains(Pair("packed_gemm_elements", 1)));
    }
    EXPECT_THAT(step_kernels(*fused), Not(Contains(Pair("reference", 1))));
    const std::vector<float> want = run_step(*plain);
    expect_same_bits(run_step(*rows), want, columns);
    expect_same_bits(run_step(*fused), want, columns);
    EXPECT_THAT(fused->notes(), IsEmpty());
  }
}

TEST_P(RowFunctionKernels, AChainHasTheBitsOfTheInterpreter) {
  for (const int columns : kOddSizes) {
    Graph graph = step_graph(columns, R"(%a = add(%scalar, %bias)
%g = ext_gate(%a, %bias, %scalar) {factor = -2.5}
%h = ext_gate(%scalar, %g, %a)
%y = mul(%h, %a)
return y = %y)");
    const TensorMap weights = random_weights_of(graph);
    const auto reference = compile(graph, weights, {.backend = "reference", .passes = "none"});
    const auto fused = support::fused_executable(graph, weights);
    EXPECT_EQ(step_kernels(*fused), (std::map<std::string, int>{{"elements", 1}, {"view", 2}}));
    expect_same_bits(run_step(*fused), run_step(*reference), columns);
  }
}

TEST_P(RowFunctionKernels, ARowWiseOpReadsViews) {
  Graph graph = step_graph(5, R"(%part = slice(%x) {begin = 2, end = 7}
%y = ext_share(%part)
return y = %y)");
  const TensorMap weights = random_weights_of(graph);
  const auto executable = support::fused_executable(graph, weights);
  EXPECT_EQ(step_kernels(*executable),
            (std::map<std::string, int>{{"row_function", 1}, {"view", 2}}));
  expect_same_bits(run_step(*executable),
                   run_step(*compile(graph, weights, {.backend = "reference"})), 5);
}

INSTANTIATE_TEST_SUITE_P(Level, RowFunctionKernels, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& level) { return level.param; });

TEST_F(ExtensionOps, AnOpWithAnEvaluationAloneLeavesTheProductOnItsKernel) {
  const Graph graph = step_graph(33, R"(%p = matmul(%x, %w)
%t = tanh(%p)
%s = ext_square(%t)
%q = matmul(%x, %u)
%r = ext_square(%q)
%y = add(%s, %r)
return y = %y)");
  const auto executable = support::fused_executable(graph, random_weights_of(graph));
  const auto kernels = step_kernels(*executable);
  EXPECT_EQ(kernels.at("reference"), 2);
  EXPECT_EQ(kernels.count("packed_gemm") + kernels.count("packed_gemm_elements"), 1u)
      << "merged products are one product";
  EXPECT_THAT(executable->notes(),
              ElementsAre("ext_square runs by the reference evaluation, which is slow: no kernel "
                          "can run it"));
}

TEST_F(ExtensionOps, TheSummaryListsNodesOnTheReferenceEvaluation) {
  const Graph graph = step_graph(33, R"(%p = matmul(%x, %w)
%gate = ext_square(%p)
%y = add(%gate, %p)
return y = %y)");
  const History history =
      trace(graph, make_optimizer({.passes = "all,-commute_rows,-frequent_rows"}));
  Summary summary;
  summary.reference_nodes =
      find_reference_nodes(history, plan_programs(history.programs, find_backend("cpu")));
  ASSERT_EQ(summary.reference_nodes.size(), 1u);
  EXPECT_EQ(summary.reference_nodes[0].op, "ext_square");
  EXPECT_THAT(print_summary(summary),
              HasSubstr("by reference evaluation ext_square gate (step)\n"));
}

}  // namespace
}  // namespace fuselage
