// Parts of rows and parts of matrices, as merging and splitting products leaves them.

#include <algorithm>

#include "backends/cpu/executable.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/cpu/kernels/kernel_registry.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "support.h"

namespace fuselage::parts_of_rows_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::ToyModel;
using support::Trace;

constexpr std::string_view kDeclarations = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain prefix = prefix of hyp
domain cross = pairs of hyp, source
domain causal = pairs of hyp, prefix
map source.word : source -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [12]}
%w = param() {name = "w", dims = [12, 20]}
%tall = param() {name = "tall", dims = [15, 9]}
)";

ToyModel model_of(std::string_view equations) {
  ToyModel model{
      parse_graph(std::string(kDeclarations) + std::string(equations), "test", all_ops()), {}};
  std::mt19937 random(17);
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Dims>>{
           {"table", {50, 12}}, {"w", {12, 20}}, {"tall", {15, 9}}}) {
    Tensor tensor(DType::f32, shape);
    std::generate_n(tensor.mutable_data<float>(), tensor.size(), [&] { return uniform(random); });
    model.weights.emplace(name, std::move(tensor));
  }
  return model;
}

/// Some steps on the CPU give what the interpreter gives.
void expect_agreement(const ToyModel& model) {
  const auto sentences = random_sentences(2, 5, 7);
  const auto run = [&](const char* backend) {
    const auto executable =
        compile(model.graph, model.weights, {.backend = backend, .passes = "none"});
    return run_trace(*executable->make_worker(), *executable, sentences, 4, 6);
  };
  const std::vector<Trace> cpu = run("cpu");
  const std::vector<Trace> reference = run("reference");
  for (std::size_t s = 0; s < cpu.size(); ++s) {
    ASSERT_EQ(cpu[s].rows.size(), reference[s].rows.size());
    for (std::size_t r = 0; r < cpu[s].rows.size(); ++r)
      EXPECT_THAT(cpu[s].rows[r],
                  ::testing::Pointwise(::testing::FloatNear(1e-5f), reference[s].rows[r]));
  }
}

/// The values of the step program that are places in others.
std::vector<std::string> views(const ToyModel& model) {
  const ProgramPlan plan = plan_program(split_by_binding_time(model.graph).step, cpu::kernel_set());
  std::vector<std::string> names;
  for (const PlannedInstruction& instruction : plan.instructions) {
    const Node& node = plan.graph.node(instruction.node);
    if (!instruction.kernel && !node.results.empty())
      names.push_back(plan.graph.value(node.results[0]).name);
  }
  return names;
}

TEST(PartsOfRows, AreReadThroughSelections) {
  const ToyModel model = model_of(R"(
%none = constant() {values = [0.25], dims = [12]}
%s = state(%none) {domain = parent}
%p = matmul(%s, %w)
%left = slice(%p) {begin = 3, end = 15}
%right = slice(%p) {begin = 8, end = 20}
%l = select_rows(%left) {via = [hyp.parent]}
%r = select_rows(%right) {via = [hyp.parent]}
%word = select_rows(%table, %none) {via = [hyp.word]}
%sum = add(%l, %r)
%all = add(%sum, %word)
%y = tanh(%all)
next(%s, %y)
return logits = %y
)");
  expect_agreement(model);
  EXPECT_THAT(views(model), ::testing::UnorderedElementsAre("left", "right", "l", "r", "word"));
}

TEST(PartsOfRows, AreCopiedBeforeADefaultRow) {
  const ToyModel model = model_of(R"(
%number = constant() {values = [0.25], dims = [5]}
%part = slice(%table) {begin = 6, end = 11}
%a = select_rows(%part, %number) {via = [hyp.word]}
%b = select_rows(%part) {via = [hyp.word]}
%y = mul(%a, %b)
return logits = %y
)");
  expect_agreement(model);
}

TEST(PartsOfRows, AreCopiedBetweenTwoIndexes) {
  const ToyModel model = model_of(R"(
%x = select_rows(%table) {via = [hyp.word]}
%part = slice(%x) {begin = 6, end = 11}
%pairs = select_rows(%part) {via = [cross.left]}
%one = slice(%pairs) {begin = 0, end = 1}
%a = segment_softmax(%one) {to = [cross.left]}
%e = select_rows(%table) {via = [source.word]}
%y = mix_rows(%a, %e) {to = [cross.left], via = [cross.right]}
return logits = %y
)");
  expect_agreement(model);
}

TEST(PartsOfRows, AreMixed) {
  const ToyModel model = model_of(R"(
%word = select_rows(%table) {via = [hyp.word]}
%known = history(%word) {domain = prefix}
%kv = matmul(%known, %w)
%keys = slice(%kv) {begin = 0, end = 12}
%values = slice(%kv) {begin = 12, end = 20}
%q = select_rows(%word) {via = [causal.left]}
%k = select_rows(%keys) {via = [causal.right]}
%scores = head_dot(%q, %k) {heads = 2}
%a = segment_softmax(%scores) {to = [causal.left]}
%y = mix_rows(%a, %values) {to = [causal.left], via = [causal.right]}
return logits = %y
)");
  expect_agreement(model);
  EXPECT_THAT(views(model), ::testing::IsSupersetOf({"keys", "k", "values"}));
}

TEST(PartsOfMatrices, AreMultipliedAtLoadAndLater) {
  const ToyModel model = model_of(R"(
%rows = slice_leading(%tall) {begin = 2, end = 14}
%products = matmul(%table, %rows)
%p = select_rows(%products) {via = [hyp.word]}
%e = select_rows(%table) {via = [hyp.word]}
%both = concat(%w, %rows)
%q = matmul(%e, %both)
%y = concat(%p, %q)
return logits = %y
)");
  expect_agreement(model);
  const Programs programs = split_by_binding_time(model.graph);
  for (const NodeId id : programs.load.nodes()) {
    if (programs.load.node(id).op->name != "matmul") continue;
    EXPECT_THAT(describe_kernel(programs.load, id, cpu::kernel_set()),
                ::testing::StartsWith("packing_gemm"));
  }
}

}  // namespace
}  // namespace fuselage::parts_of_rows_test
