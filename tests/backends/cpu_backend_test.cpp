#include <cmath>
#include <map>
#include <thread>

#include "backends/cpu/executable.h"
#include "backends/cpu/runtime/isa.h"
#include "backends/reference/backend.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "support.h"

namespace fuselage::cpu_backend_test {
namespace {

using support::linear_attention_model;
using support::random_sentences;
using support::run_trace;
using support::toy_model;
using support::ToyModel;
using support::Trace;

std::unique_ptr<Executable> compile_toy(const ToyModel& model, const std::string& passes = "none") {
  return compile(model.graph, model.weights, {.backend = "cpu", .passes = passes});
}

void expect_near(const std::vector<Trace>& a, const std::vector<Trace>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) {
    ASSERT_EQ(a[s].rows.size(), b[s].rows.size());
    for (std::size_t r = 0; r < a[s].rows.size(); ++r)
      for (std::size_t c = 0; c < a[s].rows[r].size(); ++c)
        ASSERT_NEAR(a[s].rows[r][c], b[s].rows[r][c], tolerance)
            << "sentence " << s << " row " << r << " column " << c;
  }
}

class EveryIsa : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    before_ = cpu::active_isa();
    cpu::force_isa(GetParam());
  }
  void TearDown() override { cpu::force_isa(before_); }

 private:
  std::string before_;
};

INSTANTIATE_TEST_SUITE_P(CpuBackend, EveryIsa, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

TEST_P(EveryIsa, AgreesWithTheReferenceInterpreter) {
  const ToyModel model = toy_model(1);
  const auto sentences = random_sentences(2, 7, 9);
  const auto reference = compile_reference(model.graph, model.weights);
  for (const char* passes : {"none", "all"}) {
    const auto cpu = compile_toy(model, passes);
    expect_near(run_trace(*cpu->make_worker(), *cpu, sentences, 5, 12),
                run_trace(*reference->make_worker(), *reference, sentences, 5, 12), 2e-5f);
  }
}

TEST_P(EveryIsa, CarriesMatricesFromStepToStep) {
  const ToyModel model = linear_attention_model(1);
  const auto sentences = random_sentences(2, 5, 7);
  const auto reference = compile_reference(model.graph, model.weights);
  for (const char* passes : {"none", "all"}) {
    const auto cpu = compile_toy(model, passes);
    for (const BindingTime time : {BindingTime::source, BindingTime::step})
      for (const PlannedNode& node : cpu->plan(time))
        EXPECT_FALSE(node.on_reference) << passes << " " << node.node.index;
    expect_near(run_trace(*cpu->make_worker(), *cpu, sentences, 4, 9),
                run_trace(*reference->make_worker(), *reference, sentences, 4, 9), 1e-5f);
  }
}

TEST_P(EveryIsa, ARowDoesNotDependOnItsBatch) {
  const ToyModel model = toy_model(3);
  const auto sentences = random_sentences(4, 13, 11);
  const auto cpu = compile_toy(model);
  const auto worker = cpu->make_worker();
  const std::vector<Trace> together = run_trace(*worker, *cpu, sentences, 4, 10);
  for (std::size_t s = 0; s < sentences.size(); ++s)
    expect_near(run_trace(*worker, *cpu, {sentences[s]}, 4, 10), {together[s]}, 0.0f);
}

TEST_P(EveryIsa, AnExecutableKeepsTheLevelThatItWasCompiledFor) {
  const ToyModel model = toy_model(15);
  const auto sentences = random_sentences(16, 6, 9);
  for (const Precision precision : {Precision::fp32, Precision::int8}) {
    const auto cpu = compile(model.graph, model.weights, {.precision = precision});
    const auto worker = cpu->make_worker();
    const std::vector<Trace> before = run_trace(*worker, *cpu, sentences, 4, 8);
    for (const std::string& other : cpu::supported_isas()) {
      SCOPED_TRACE(other);
      cpu::force_isa(other);
      expect_near(run_trace(*worker, *cpu, sentences, 4, 8), before, 0.0f);
      expect_near(run_trace(*cpu->make_worker(), *cpu, sentences, 4, 8), before, 0.0f);
    }
    cpu::force_isa(GetParam());
  }
}

TEST(CpuBackend, WorkersShareAnExecutable) {
  const ToyModel model = toy_model(5);
  const auto cpu = compile_toy(model);
  const auto sentences = random_sentences(6, 8, 9);
  const std::vector<Trace> alone = run_trace(*cpu->make_worker(), *cpu, sentences, 3, 8);
  std::vector<std::vector<Trace>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] { result = run_trace(*cpu->make_worker(), *cpu, sentences, 3, 8); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) expect_near(result, alone, 0.0f);
}

TEST(CpuBackend, AWorkerIsGoodForBatchesOfAnySize) {
  const ToyModel model = toy_model(7);
  const auto cpu = compile_toy(model);
  const auto worker = cpu->make_worker();
  const auto small = random_sentences(8, 1, 3);
  const std::vector<Trace> before = run_trace(*worker, *cpu, small, 2, 5);
  run_trace(*worker, *cpu, random_sentences(9, 20, 15), 6, 20);
  expect_near(run_trace(*worker, *cpu, small, 2, 5), before, 0.0f);
}

// --- Kernels of a caller ---

constexpr const char* kOtherKernel = "element_by_element";

std::string needs_a_scan(const Graph& graph, const Node& node) {
  const DomainKind kind = graph.domain(graph.value(node.results[0]).type.domain).kind;
  return kind == DomainKind::scan ? "" : "it runs in loops over source words";
}

class TanhByElement final : public cpu::Kernel {
 public:
  TanhByElement(const PlannedInstruction&, const cpu::Binding& binding)
      : domain_(binding.graph.value(binding.node.results[0]).type.domain) {}

  void run(const PlannedInstruction& in, const cpu::Run& run) const override {
    ASSERT_EQ(in.domain, domain_);
    const cpu::RowsIn x = cpu::rows_in(in, run, 0);
    ASSERT_EQ(x.rows, nullptr) << "it reads no views";
    const cpu::RowsOut y = cpu::rows_out(in, run);
    for (std::size_t r = 0; r < cpu::rows_of(in, run); ++r)
      for (std::size_t c = 0; c < cpu::cols_of(in); ++c)
        y.data[r * y.stride + c] = std::tanh(x.data[r * x.stride + c]);
  }

 private:
  DomainId domain_;
};

std::map<std::string, int> kernels_of(const Executable& executable) {
  std::map<std::string, int> counts;
  for (const BindingTime time : {BindingTime::source, BindingTime::step})
    for (const PlannedNode& node : executable.plan(time)) ++counts[node.kernel];
  return counts;
}

TEST(CpuBackend, KernelsOfTheCallerStandBeforeItsOwn) {
  const ToyModel model = toy_model(13);
  const auto sentences = random_sentences(14, 5, 9);
  const cpu::KernelEntry other{
      {.op = op::Tanh::kName, .name = kOtherKernel, .refuse = needs_a_scan},
      cpu::make_kernel<TanhByElement>};
  const Programs programs = split_by_binding_time(model.graph);
  const auto ours = compile_cpu(programs, model.weights);
  const auto theirs = compile_cpu(programs, model.weights, {.kernels = {&other, 1}});
  // Of what it refuses the back-end's own kernels run.
  const std::map<std::string, int> before = kernels_of(*ours), after = kernels_of(*theirs);
  EXPECT_EQ(before.count(kOtherKernel), 0u);
  ASSERT_EQ(after.count(kOtherKernel), 1u);
  ASSERT_EQ(after.count("unary"), 1u);
  EXPECT_EQ(after.at(kOtherKernel) + after.at("unary"), before.at("unary"));
  expect_near(run_trace(*theirs->make_worker(), *theirs, sentences, 3, 8),
              run_trace(*ours->make_worker(), *ours, sentences, 3, 8), 2e-5f);
}

TEST(CpuBackend, AMissingWeightIsNamed) {
  ToyModel model = toy_model(10);
  model.weights.erase("keys");
  EXPECT_THAT([&] { compile_toy(model); },
              ::testing::ThrowsMessage<Error>(
                  ::testing::HasSubstr("weight 'keys', a parameter of the graph, is missing")));
}

TEST(CpuBackend, AWordBeyondTheVocabularyIsRefused) {
  const ToyModel model = toy_model(11);
  const auto cpu = compile_toy(model);
  const std::vector<WordIds> sentences{{ToyModel::kVocabulary, 0}};
  EXPECT_THAT(
      [&] {
        cpu->make_worker()->begin(sentences, {{1}, {1}});
      },
      ::testing::ThrowsMessage<Error>(::testing::HasSubstr("word id 50")));
}

}  // namespace
}  // namespace fuselage::cpu_backend_test
