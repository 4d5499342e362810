// Nodes that quantize their results, on the CPU: beside quantizing by a node of its own, and beside
// the reference interpreter.

#include <algorithm>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage::quantized_results_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::Trace;

/// Each op that may quantize its results, of widths that fill no vector, in each kind of rows:
/// those of a loop over the source, of hypotheses and of prefixes. Some floats are read too, others
/// not.
constexpr std::string_view kGraph = R"ir(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain prefix = prefix of hyp
domain cross = pairs of hyp, source
domain causal = pairs of hyp, prefix
domain scan = scan of source
map source.word : source -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [37]}
%bank = param() {name = "bank", domain = words, dims = [3, 5]}
%wide = param() {name = "wide", dims = [37, 613]}
%gain = param() {name = "gain", dims = [37]}
%v = param() {name = "v", dims = [37, 1]}
%none = constant() {values = [0.25], dims = [37]}
%read = select_rows(%table) {via = [source.word]}
%before = state(%none) {domain = scan}
%token = select_rows(%read) {via = [scan.source]}
%after = pointwise(%before, %token) {expression = "tanh(add(x0, x1))"}
%q_after = quantize(%after)
%read_after = dequantize(%q_after)
next(%before, %read_after)
%encoded = collect(%read_after)
%state = state(%none) {domain = parent}
%old = select_rows(%state) {via = [hyp.parent]}
%word = select_rows(%table, %none) {via = [hyp.word]}
%new, %square = pointwise(%old, %word) {expression = "t0 = sub(x0, x1); tanh(t0); mul(t0, t0)"}
%q_new = quantize(%new) {to = qint16, largest = 8191}
next(%state, %new)
%said = history(%new) {domain = prefix}
%key = pointwise(%said) {expression = "abs(x0)"}
%q_key = quantize(%key)
%keys = dequantize(%q_key)
%said_weights, %said_mixed = dot_attention(%new, %keys, %keys) {left = [causal.left], right = [causal.right], heads = 1, scale = 0.5}
%q_said = quantize(%said_mixed) {largest = 64, logarithmic = true}
%exp_new = exp(%new)
%exp_read = exp(%encoded)
%weights, %mixed = additive_attention(%exp_new, %exp_read, %v, %encoded) {left = [cross.left], right = [cross.right]}
%q_mixed = quantize(%mixed)
%norm, %sum = add_layer_norm(%new, %mixed, %gain) {epsilon = 0.01}
%q_norm = quantize(%norm)
%normed, %summed = add_layer_norm(%word, %old, %gain) {epsilon = 0.01}
%rms, %rms_sum = add_rms_norm(%new, %said_mixed, %gain) {epsilon = 0.01}
%q_rms = quantize(%rms)
%q_summed = quantize(%summed) {to = qint16, largest = 32767, largest_sum = 70000}
%out = linear(%new, %wide) {expression = "tanh(x0)"}
%q_out = quantize(%out)
%entry = select_rows(%bank) {via = [hyp.word]}
%several = pointwise(%entry) {expression = "neg(x0)"}
%q_several = quantize(%several)
%entries = dequantize(%q_several)
%a = dequantize(%q_new)
%b = dequantize(%q_said)
%c = dequantize(%q_mixed)
%d = dequantize(%q_norm)
%e = dequantize(%q_summed)
%f = dequantize(%q_out)
%g = dequantize(%q_rms)
%all = concat(%a, %b, %c, %d, %e, %f, %g, %rms_sum, %sum)
return logits = %all, entries = %entries
)ir";

/// What all hypotheses saw in some steps of a batch, and the other output after the last step.
std::vector<std::vector<float>> rows_of(const Graph& graph, const CompileOptions& options) {
  // Rows of more than one tile of a linear layer.
  const auto sentences = random_sentences(2, 41, 6);
  const auto executable = compile(graph, uniform_weights(graph, 7, 1), options);
  const auto worker = executable->make_worker();
  std::vector<std::vector<float>> rows;
  for (const Trace& trace : run_trace(*worker, *executable, sentences, 3, 5))
    rows.insert(rows.end(), trace.rows.begin(), trace.rows.end());
  const OutputRows<float> entries = worker->floats(executable->output("entries"));
  for (std::int32_t row = 0; row < std::ssize(sentences); ++row)
    rows.emplace_back(entries.row(row).begin(), entries.row(row).end());
  return rows;
}

class QuantizedResults : public ::testing::TestWithParam<std::string> {
 protected:
  QuantizedResults() { cpu::force_isa(GetParam()); }
  ~QuantizedResults() override { cpu::force_isa(before_); }

  const std::string before_ = cpu::active_isa();
  const Graph graph_ = parse_graph(kGraph, "test.ir", all_ops());
};

TEST_P(QuantizedResults, HaveTheBytesOfNodesOfTheirOwn) {
  Graph fused = graph_;
  optimize(fused, {.passes = "fuse_quantize"});
  for (const NodeId id : fused.nodes()) ASSERT_NE(fused.node(id).op->name, "quantize");
  const auto want = rows_of(graph_, {.passes = "none"});
  for (const std::size_t threads : {1u, 3u})
    EXPECT_EQ(rows_of(fused, {.passes = "none", .threads_per_sentence = threads}), want) << threads;
}

TEST_P(QuantizedResults, AgreeWithTheReferenceInterpreter) {
  const auto want = rows_of(graph_, {.backend = "reference", .passes = "fuse_quantize"});
  const auto got = rows_of(graph_, {.passes = "fuse_quantize"});
  ASSERT_EQ(got.size(), want.size());
  // What is almost half way between two integers may go to either.
  for (std::size_t r = 0; r < want.size(); ++r)
    ASSERT_THAT(got[r], ::testing::Pointwise(::testing::FloatNear(0.03f), want[r])) << r;
}

INSTANTIATE_TEST_SUITE_P(Backends, QuantizedResults, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

/// Results of which only the quantized vectors are read, in more rows than kernels compute at once.
constexpr std::string_view kOnlyQuantized = R"ir(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain own = pairs of source, source
map source.word : source -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [32]}
%wide = param() {name = "wide", dims = [32, 613]}
%bias = param() {name = "bias", dims = [613]}
%gain = param() {name = "gain", dims = [32]}
%x = select_rows(%table) {via = [source.word]}
%weights, %mixed = dot_attention(%x, %x, %x) {left = [own.left], right = [own.right], heads = 2, scale = 0.5}
%qa = quantize(%mixed)
%a = dequantize(%qa)
%norm, %sum = add_layer_norm(%a, %x, %gain) {epsilon = 0.01}
%qb = quantize(%norm)
%b = dequantize(%qb)
%rectified = linear(%b, %wide, %bias) {expression = "relu(add(x0, x1))"}
%qc = quantize(%rectified) {given_scale = 0.02}
%c = dequantize(%qc)
%squashed = linear(%b, %wide, %bias) {expression = "tanh(add(x0, x1))"}
%qd = quantize(%squashed)
%d = dequantize(%qd)
%doubled = pointwise(%b) {expression = "add(x0, x0)"}
%qe = quantize(%doubled)
%e = dequantize(%qe)
%all = concat(%c, %d, %e)
%entries = mean_rows(%all) {to = [source.sentence]}
%last = select_rows(%table) {via = [hyp.word]}
%logits = relu(%last)
return logits = %logits, entries = %entries
)ir";

TEST_P(QuantizedResults, MayBeAllThatIsRead) {
  const Graph plain = parse_graph(kOnlyQuantized, "test.ir", all_ops());
  Graph fused = plain;
  optimize(fused, {.passes = "fuse_quantize"});
  for (const NodeId id : fused.nodes()) ASSERT_NE(fused.node(id).op->name, "quantize");
  const auto want = rows_of(plain, {.passes = "none"});
  for (const std::size_t threads : {1u, 3u})
    EXPECT_EQ(rows_of(fused, {.passes = "none", .threads_per_sentence = threads}), want) << threads;
}

/// Of pairs there are others than of the mixture's rows.
TEST(QuantizedWeights, AreThoseOfTheReferenceEvaluation) {
  const std::string text(kGraph.substr(0, kGraph.find("%q_mixed")));
  const Graph graph = parse_graph(text + R"(%q = quantize(%weights)
%w = dequantize(%q)
%c = mix_rows(%w, %encoded) {to = [cross.left], via = [cross.right]}
return logits = %c, entries = %c
)",
                                  "test.ir", all_ops());
  const auto want = rows_of(graph, {.backend = "reference", .passes = "none"});
  const auto got = rows_of(graph, {.passes = "fuse_quantize"});
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t r = 0; r < want.size(); ++r)
    ASSERT_THAT(got[r], ::testing::Pointwise(::testing::FloatNear(2e-5f), want[r])) << r;
}

TEST(QuantizingKernels, AreNotAskedOfAKernelThatGivesNone) {
  Graph graph = parse_graph(kGraph, "test.ir", all_ops());
  const KernelInfo kernel{.op = op::Linear::kName, .name = "plain"};
  const auto linear = [&] {
    for (const NodeId id : graph.nodes())
      if (graph.node(id).is<op::Linear>()) return graph.node(id);
    throw Error("there is no linear node");
  };
  EXPECT_EQ(choose_kernel(graph, linear(), {&kernel}).kernel, &kernel);
  optimize(graph, {.passes = "fuse_quantize"});
  const KernelChoice choice = choose_kernel(graph, linear(), {&kernel});
  EXPECT_EQ(choice.kernel, nullptr);
  EXPECT_EQ(describe(choice), "no kernel (plain: it does not quantize results)");
}

}  // namespace
}  // namespace fuselage::quantized_results_test
