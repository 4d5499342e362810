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

// Tables in 16 bits: with a default row, without, and with rows that are copied before they are
// read.
constexpr std::string_view kTables = R"(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
map hyp.word : hyp -> words partial
%e = param() {name = "e", dtype = bf16, domain = words, dims = [38]}
%f = param() {name = "f", dtype = bf16, domain = words, dims = [19, 2]}
%d = param() {name = "d", dtype = bf16, dims = [38]}
%w = param() {name = "w", dtype = bf16, dims = [38, 43]}
%wf = cast(%w) {to = f32}
%a = select_rows(%e) {via = [hyp.word]}
%b = select_rows(%e, %d) {via = [hyp.word]}
%c = select_rows(%f) {via = [hyp.word]}
%af = cast(%a) {to = f32}
%bf = cast(%b) {to = f32}
%cf = cast(%c) {to = f32}
%cr = reshape(%cf) {dims = [38]}
%p = matmul(%af, %wf)
%q = matmul(%bf, %w)
%logits = concat(%af, %bf, %cr, %p, %q)
return logits = %logits
)";

constexpr std::string_view kIntegersOfHalves = R"(
%wh = param() {name = "w", dtype = bf16, dims = [43, 37]}
%eh = param() {name = "e", dtype = bf16, domain = words, dims = [37]}
%ef = cast(%eh) {to = f32}
%last = select_rows(%ef) {via = [hyp.word]}
%x = add(%last, %age)
%xq = quantize(%x)
%xs = quantize(%x) {to = qint16, largest = 8191}
%wq = quantize(%wh)
%ws = quantize(%wh) {to = qint16, largest = 32767, largest_sum = 262143}
%eq = quantize(%eh)
%p = matmul(%xq, %wq) {transposed = true}
%q = matmul(%xs, %ws) {transposed = true}
%l = matmul(%xq, %eq) {transposed = true}
%logits = concat(%p, %q, %l)
return logits = %logits
)";

Graph graph_of(std::string_view row, std::string_view rest) {
  return parse_graph(std::string(kDeclarations) + std::string(row) + std::string(rest), "test.ir",
                     all_ops());
}

using Shapes = std::vector<std::pair<std::string, Dims>>;

TensorMap random_weights(const Shapes& shapes = {
                             {"e", {50, 37}}, {"w", {37, 43}}, {"v", {37, 1}}, {"b", {50}}}) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  TensorMap weights;
  for (const auto& [name, shape] : shapes) {
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

/// The weights in bf16, and a graph that reads them; the same in f16.
std::vector<std::pair<Graph, TensorMap>> in_both_types(std::string_view text,
                                                       const TensorMap& weights) {
  TensorMap upper, half;
  for (const auto& [name, tensor] : weights) {
    upper.emplace(name, tensor.to_bf16());
    half.emplace(name, tensor.to_f16());
  }
  std::vector<std::pair<Graph, TensorMap>> both;
  both.emplace_back(parse_graph(std::string(text), "test.ir", all_ops()), std::move(upper));
  both.emplace_back(parse_graph(in_f16(text), "test.ir", all_ops()), std::move(half));
  return both;
}

TEST_P(EveryLevel, RowsOfTablesOfHalves) {
  const TensorMap weights =
      random_weights({{"e", {50, 38}}, {"f", {50, 19, 2}}, {"d", {38}}, {"w", {38, 43}}});
  for (const auto& [graph, stored] : in_both_types(kTables, weights))
    expect_as_reference(graph, stored);
}

TEST_P(EveryLevel, IntegersMadeOfHalves) {
  const TensorMap weights = random_weights({{"e", {50, 37}}, {"w", {43, 37}}});
  for (const auto& [graph, stored] :
       in_both_types(std::string(kDeclarations) + std::string(kIntegersOfHalves), weights))
    expect_as_reference(graph, stored);
}

TEST_P(EveryLevel, ProductsOfHalvesAreThoseOfTheirFloats) {
  const TensorMap weights =
      random_weights({{"e", {50, 38}}, {"f", {50, 19, 2}}, {"d", {38}}, {"w", {38, 43}}});
  for (const auto& [graph, stored] : in_both_types(kTables, weights)) {
    const std::vector<Trace> late = run(graph, stored, {.backend = "cpu", .passes = "all"});
    const std::vector<Trace> early =
        run(graph, stored, {.backend = "cpu", .passes = "all,-widen_late"});
    ASSERT_EQ(late.size(), early.size());
    for (std::size_t s = 0; s < late.size(); ++s) EXPECT_EQ(late[s].rows, early[s].rows);
  }
}

TEST_P(EveryLevel, LogarithmicMatricesAndRows) {
  expect_as_reference(graph_of(kRow, kLogarithmic), weights_);
}

}  // namespace
}  // namespace fuselage::weight_types_test
