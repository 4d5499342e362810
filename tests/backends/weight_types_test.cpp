// Products with weights of every type: stored so, or made so when the model is loaded.

#include <random>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "support.h"

namespace fuselage::weight_types_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::Trace;

// Rows of 37 elements: of bf16, they do not end where 4 bytes do.
constexpr std::string_view kDeclarations = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%at = position() {domain = hyp}
%signal = sinusoid(%at) {dim = 38}
%age = slice(%signal) {begin = 0, end = 37}
)";

constexpr std::string_view kRow = R"(
%e = param() {name = "e", domain = words, dims = [37]}
%w = param() {name = "w", dims = [37, 43]}
%v = param() {name = "v", dims = [37, 1]}
%b = param() {name = "b", dims = [50]}
%last = select_rows(%e) {via = [hyp.word]}
%x = add(%last, %age)
)";

constexpr std::string_view kComputedHalves = R"(
%wh = cast(%w) {to = bf16}
%vh = cast(%v) {to = bf16}
%eh = cast(%e) {to = bf16}
%ef = cast(%eh) {to = f32}
%table = matmul(%ef, %wh)
%p = matmul(%x, %wh)
%q = select_rows(%table) {via = [hyp.word]}
%r = matmul(%x, %vh)
%l = matmul(%x, %eh) {transposed = true}
%o = add(%l, %b)
%s = log_softmax(%o)
%logits = concat(%p, %q, %r, %s)
return logits = %logits
)";

constexpr std::string_view kStoredHalves = R"(
%wh = param() {name = "w", dtype = bf16, dims = [37, 43]}
%eh = param() {name = "e", dtype = bf16, domain = words, dims = [37]}
%ef = cast(%eh) {to = f32}
%last = select_rows(%ef) {via = [hyp.word]}
%x = add(%last, %age)
%p = matmul(%x, %wh)
%l = matmul(%x, %eh) {transposed = true}
%logits = concat(%p, %l)
return logits = %logits
)";

constexpr std::string_view kLogarithmic = R"(
%wt = transpose(%w)
%wq = quantize(%wt) {to = qlog4, largest = 128}
%eq = quantize(%e) {to = qlog4, largest = 128}
%xq = quantize(%x)
%xl = quantize(%x) {largest = 64, logarithmic = true}
%p = matmul(%xq, %wq) {transposed = true}
%q = matmul(%xl, %wq) {transposed = true}
%l = matmul(%xq, %eq) {transposed = true}
%o = add(%l, %b)
%s = log_softmax(%o)
%logits = concat(%p, %q, %s)
return logits = %logits
)";

Graph graph_of(std::string_view row, std::string_view rest) {
  return parse_graph(std::string(kDeclarations) + std::string(row) + std::string(rest), "test.ir",
                     all_ops());
}

TensorMap random_weights() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  TensorMap weights;
  for (const auto& [name, shape] : std::vector<std::pair<std::string, Dims>>{
           {"e", {50, 37}}, {"w", {37, 43}}, {"v", {37, 1}}, {"b", {50}}}) {
    Tensor tensor(DType::f32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[i] = normal(random);
    weights.emplace(name, std::move(tensor));
  }
  return weights;
}

std::vector<Trace> run(const Graph& graph, const TensorMap& weights,
                       const CompileOptions& options) {
  const auto executable = compile(graph, weights, options);
  return run_trace(*executable->make_worker(), *executable, random_sentences(2, 5, 4), 4, 6);
}

class EveryLevel : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { cpu::force_isa(GetParam()); }
  void TearDown() override { cpu::force_isa(before_); }

  void expect_as_reference(const Graph& graph, const TensorMap& weights) {
    const std::vector<Trace> wanted =
        run(graph, weights, {.backend = "reference", .passes = "none"});
    for (const char* passes : {"none", "all"}) {
      const std::vector<Trace> got = run(graph, weights, {.backend = "cpu", .passes = passes});
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t s = 0; s < got.size(); ++s)
        for (std::size_t r = 0; r < got[s].rows.size(); ++r)
          for (std::size_t c = 0; c < got[s].rows[r].size(); ++c)
            ASSERT_NEAR(got[s].rows[r][c], wanted[s].rows[r][c], 1e-4)
                << passes << ": sentence " << s << " row " << r << " column " << c;
    }
  }

  std::string before_ = cpu::active_isa();
  TensorMap weights_ = random_weights();
};

INSTANTIATE_TEST_SUITE_P(WeightTypes, EveryLevel, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

std::string in_f16(std::string_view graph) {
  std::string text(graph);
  for (std::size_t at = 0; (at = text.find("bf16", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

TEST_P(EveryLevel, HalvesMadeAtLoad) {
  expect_as_reference(graph_of(kRow, kComputedHalves), weights_);
  expect_as_reference(graph_of(kRow, in_f16(kComputedHalves)), weights_);
}

TEST_P(EveryLevel, StoredHalves) {
  TensorMap narrow = weights_;
  for (const char* name : {"w", "e"}) narrow.at(name) = weights_.at(name).to_bf16();
  expect_as_reference(graph_of("", kStoredHalves), narrow);
  for (const char* name : {"w", "e"}) narrow.at(name) = weights_.at(name).to_f16();
  expect_as_reference(graph_of("", in_f16(kStoredHalves)), narrow);
}

TEST_P(EveryLevel, LogarithmicMatricesAndRows) {
  expect_as_reference(graph_of(kRow, kLogarithmic), weights_);
}

}  // namespace
}  // namespace fuselage::weight_types_test
