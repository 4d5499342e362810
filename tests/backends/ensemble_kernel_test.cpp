// An ensemble from the graph to the kernel: what a whole pipeline makes of it, and what runs it.

#include <algorithm>

#include "backends/cpu/executable.h"
#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/passes/pipeline.h"
#include "passes/rewrite/pass_manager.h"
#include "support.h"

namespace fuselage::ensemble_kernel_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::ToyModel;
using support::Trace;

constexpr std::string_view kDeclarations = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [12]}
%other = param() {name = "other", domain = words, dims = [7]}
%w = param() {name = "w", dims = [5, 50]}
%b = param() {name = "b", dims = [50]}
%at = position() {domain = hyp}
%age = sinusoid(%at) {dim = 12}
%first = select_rows(%table) {via = [hyp.word]}
%x = mul(%first, %age)
%second = select_rows(%other) {via = [hyp.word]}
%late = slice(%age) {begin = 3, end = 10}
%y = mul(%second, %late)
%part = slice(%y) {begin = 2, end = 7}
)";

/// Three models: of tied embeddings, of part of a row and without a bias. What their rows depend on
/// cannot be looked up.
constexpr std::string_view kEnsemble = R"(
%third = constant() {values = [0.3]}
%h = tanh(%x)
%p = matmul(%h, %table) {transposed = true}
%l = add(%p, %b)
%s = log_softmax(%l)
%q = matmul(%part, %w)
%m = add(%q, %b)
%t = log_softmax(%m)
%wt = mul(%t, %third)
%r = matmul(%y, %other) {transposed = true}
%u = log_softmax(%r)
%two = add(%s, %wt)
%all = add(%two, %u)
%best, %word = k_best(%all) {k = 9}
return logits = %best, word = %word
)";

ToyModel model_of(std::string_view equations) {
  ToyModel model{
      parse_graph(std::string(kDeclarations) + std::string(equations), "test", all_ops()), {}};
  std::mt19937 random(29);
  std::normal_distribution<float> normal;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Dims>>{
           {"table", {50, 12}}, {"other", {50, 7}}, {"w", {5, 50}}, {"b", {50}}}) {
    Tensor tensor(DType::f32, shape);
    std::generate_n(tensor.mutable_data<float>(), tensor.size(), [&] { return normal(random); });
    model.weights.emplace(name, std::move(tensor));
  }
  return model;
}

std::vector<Trace> run(const ToyModel& model, const char* backend, const char* passes) {
  const auto executable =
      compile(model.graph, model.weights, {.backend = backend, .passes = passes});
  return run_trace(*executable->make_worker(), *executable, random_sentences(3, 5, 7), 4, 6);
}

void expect_near(const std::vector<Trace>& got, const std::vector<Trace>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t s = 0; s < got.size(); ++s) {
    ASSERT_EQ(got[s].rows.size(), want[s].rows.size());
    for (std::size_t r = 0; r < got[s].rows.size(); ++r)
      EXPECT_THAT(got[s].rows[r],
                  ::testing::Pointwise(::testing::FloatNear(2e-5f), want[s].rows[r]));
  }
}

/// The kernel that runs the only node of an op.
std::string kernel_of(const Graph& graph, std::string_view op) {
  for (const NodeId id : graph.nodes())
    if (graph.node(id).op->name == op) return describe_kernel(graph, id, cpu::kernel_set());
  return "nothing";
}

class EnsembleOnEveryIsa : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    before_ = cpu::active_isa();
    cpu::force_isa(GetParam());
  }
  void TearDown() override { cpu::force_isa(before_); }

 private:
  std::string before_;
};

INSTANTIATE_TEST_SUITE_P(Ensemble, EnsembleOnEveryIsa, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

TEST_P(EnsembleOnEveryIsa, GivesWhatItsModelsGiveSeparately) {
  const ToyModel model = model_of(kEnsemble);
  const std::vector<Trace> want = run(model, "reference", "none");
  expect_near(run(model, "cpu", "none"), want);
  expect_near(run(model, "cpu", "fuse_ensemble"), want);
  expect_near(run(model, "cpu", "all"), want);
  expect_near(run(model, "reference", "all"), want);
}

TEST_P(EnsembleOnEveryIsa, IsSharedByThreadsWithoutChangeOfBytes) {
  const ToyModel model = model_of(kEnsemble);
  const auto traced_by = [&](std::size_t threads) {
    const auto executable = compile(model.graph, model.weights, {.threads_per_sentence = threads});
    // So many rows that sharing them is worth it.
    return run_trace(*executable->make_worker(), *executable, random_sentences(3, 30, 7), 4, 3);
  };
  const std::vector<Trace> want = traced_by(1);
  for (const std::size_t threads : {2u, 7u}) {
    const std::vector<Trace> got = traced_by(threads);
    for (std::size_t s = 0; s < want.size(); ++s)
      EXPECT_EQ(got[s].rows, want[s].rows) << threads << " threads";
  }
}

TEST(EnsembleKernel, RunsWhatThePassMakes) {
  Graph graph = model_of(kEnsemble).graph;
  EXPECT_EQ(kernel_of(graph, "ensemble_k_best"), "nothing");
  run_passes(select_passes("all"), graph);
  EXPECT_THAT(kernel_of(graph, "ensemble_k_best"), ::testing::StartsWith("output_layers"));
  EXPECT_EQ(kernel_of(graph, "log_softmax"), "nothing");
}

TEST(EnsembleKernel, RefusesWhatItCannotRead) {
  const auto kernel = [](std::string_view equations) {
    return kernel_of(model_of(equations).graph, "ensemble_k_best");
  };
  EXPECT_THAT(kernel("%c = concat(%w, %w)\n"
                     "%best, %word = ensemble_k_best(%part, %c) {k = 1, weights = [1]}\n"
                     "return logits = %best\n"),
              ::testing::HasSubstr("a matrix is not stored"));
  EXPECT_THAT(kernel("%p = matmul(%part, %w)\n"
                     "%best, %word = ensemble_k_best(%part, %w, %y, %other, %p) {k = 1, "
                     "weights = [1, 1], biased = [0, 1], transposed = [0, 1]}\n"
                     "return logits = %best\n"),
              ::testing::HasSubstr("a bias is not one element a column"));
}

}  // namespace
}  // namespace fuselage::ensemble_kernel_test
