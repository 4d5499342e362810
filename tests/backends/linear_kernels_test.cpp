// Products with elementwise expressions on the CPU: beside the plain ops, bit by bit.

#include <fmt/format.h>

#include <random>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage::linear_kernels_test {
namespace {

using support::random_sentences;

/// Expressions that begin with a bias or relu in all ways that a kernel tells apart, and others.
/// Widths fill no panel, and there are more rows than a kernel computes at once.
constexpr std::string_view kGraph = R"ir(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
map source.word : source -> words
%table = param() {name = "table", domain = words, dims = [19]}
%w = param() {name = "w", dims = [19, 331]}
%b = param() {name = "b", dims = [331]}
%one = param() {name = "one", dims = [1]}
%wide = param() {name = "wide", domain = words, dims = [331]}
%x = select_rows(%table) {via = [source.word]}
%row = select_rows(%wide) {via = [source.word]}
%p = matmul(%x, %w)
%biased = add(%p, %b)
%rectified = relu(%biased)
%plain = relu(%p)
%swish = swish(%biased)
%product = mul(%p, %p)
%doubled = add(%p, %p)
%shifted = add(%p, %one)
%residual = add(%p, %row)
%both = mul(%biased, %rectified)
%less = sub(%biased, %row)
%more = relu(%less)
)ir";

struct Case {
  std::string_view operands, expression, plain;
};

constexpr Case kCases[] = {
    {"%b", "add(x0, x1)", "%biased"},
    {"%b", "add(x1, x0)", "%biased"},
    {"%b", "relu(add(x0, x1))", "%rectified"},
    {"", "relu(x0)", "%plain"},
    {"%b", "swish(add(x0, x1))", "%swish"},
    {"", "mul(x0, x0)", "%product"},
    {"", "add(x0, x0)", "%doubled"},
    {"%one", "add(x0, x1)", "%shifted"},
    {"%row", "add(x0, x1)", "%residual"},
    {"%b", "t0 = add(x0, x1); mul(t0, relu(t0))", "%both"},
    {"%row, %b", "relu(sub(add(x0, x2), x1))", "%more"},
};

TensorMap random_weights(const Graph& graph) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  return weights_for(graph, [&](const Type&, const Dims& shape) {
    return tensor_of(shape, [&] { return normal(random); });
  });
}

/// All rows of an output of the source program.
std::vector<float> rows_of(const Graph& graph, const TensorMap& weights, const char* output,
                           std::size_t threads) {
  const auto executable =
      compile(graph, weights, {.passes = "none", .threads_per_sentence = threads});
  const auto worker = executable->make_worker();
  const auto sentences = random_sentences(2, 41, 6);
  worker->begin({.sentences = sentences}, {});
  const OutputRows<float> rows = worker->floats(executable->output(output));
  return {rows.data, rows.data + rows.rows * rows.cols};
}

class LinearKernels : public ::testing::TestWithParam<std::string> {
 protected:
  LinearKernels() { cpu::force_isa(GetParam()); }
  ~LinearKernels() override { cpu::force_isa(before_); }

  const std::string before_ = cpu::active_isa();
};

TEST_P(LinearKernels, HaveTheBytesOfPlainOps) {
  for (const Case& one : kCases) {
    const std::string separator = one.operands.empty() ? "" : ", ";
    const Graph graph = parse_graph(
        fmt::format("{}%y = linear(%x, %w{}{}) {{expression = \"{}\"}}\nreturn fused = %y, plain = "
                    "{}\n",
                    kGraph, separator, one.operands, one.expression, one.plain),
        "test.ir", all_ops());
    const TensorMap weights = random_weights(graph);
    const std::vector<float> want = rows_of(graph, weights, "plain", 1);
    for (const std::size_t threads : {1u, 3u})
      EXPECT_EQ(rows_of(graph, weights, "fused", threads), want)
          << one.expression << ", " << threads << " threads";
  }
}

TEST_P(LinearKernels, GiveSeveralResults) {
  const Graph graph = parse_graph(
      std::string(kGraph) +
          "%y, %z = linear(%x, %w, %b) {expression = \"t0 = add(x0, x1); t0; swish(t0)\"}\n"
          "return fused = %y, more = %z, plain = %biased, swish = %swish\n",
      "test.ir", all_ops());
  const TensorMap weights = random_weights(graph);
  EXPECT_EQ(rows_of(graph, weights, "fused", 1), rows_of(graph, weights, "plain", 1));
  EXPECT_EQ(rows_of(graph, weights, "more", 1), rows_of(graph, weights, "swish", 1));
}

INSTANTIATE_TEST_SUITE_P(Backends, LinearKernels, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

}  // namespace
}  // namespace fuselage::linear_kernels_test
