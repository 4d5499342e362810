// Dot-product attention with a number added for each head of a pair, on the CPU: beside the
// reference interpreter, and beside separate nodes for score, sum, softmax and mixture.

#include <algorithm>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/rows.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage::biased_attention_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::Trace;

using Rows = std::vector<std::vector<float>>;

/// $h heads of 5 keys and 5 values. The encoder attends to itself and the decoder to its own words,
/// with positions out of tables; to the source text with parts of computed rows, and again with
/// whole ones.
constexpr std::string_view kGraph = R"ir(fuselage.graph 1
domain words = vocabulary 50
domain sentence = sentence
domain source = source of sentence
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain prefix = prefix of hyp
domain own = pairs of source, source
domain cross = pairs of hyp, source
domain causal = pairs of hyp, prefix
domain near = vocabulary 7
domain far = vocabulary 6
map source.word : source -> words
map hyp.word : hyp -> words partial
map own.distance : own -> near distance clipped
map causal.distance : causal -> far distance logarithmic 20 causal
%table = param() {name = "table", domain = words, dims = [$n]}
%near_bias = param() {name = "near_bias", domain = near, dims = [$h]}
%far_bias = param() {name = "far_bias", domain = far, dims = [$h]}
%read = select_rows(%table) {via = [source.word]}
%own_l = select_rows(%read) {via = [own.left]}
%own_r = select_rows(%read) {via = [own.right]}
%own_dots = head_dot(%own_l, %own_r) {heads = $h, scale = 0.3}
%own_bias = select_rows(%near_bias) {via = [own.distance]}
%own_scores = add(%own_dots, %own_bias)
%own_weights = segment_softmax(%own_scores) {to = [own.left]}
%seen = mix_rows(%own_weights, %read) {to = [own.left], via = [own.right]}
%word = select_rows(%table) {via = [hyp.word]}
%said = history(%word) {domain = prefix}
%said_l = select_rows(%word) {via = [causal.left]}
%said_r = select_rows(%said) {via = [causal.right]}
%said_dots = head_dot(%said_l, %said_r) {heads = $h, scale = 0.3}
%said_bias = select_rows(%far_bias) {via = [causal.distance]}
%said_scores = add(%said_bias, %said_dots)
%said_weights = segment_softmax(%said_scores) {to = [causal.left]}
%a = mix_rows(%said_weights, %said) {to = [causal.left], via = [causal.right]}
%left = select_rows(%a) {via = [cross.left]}
%right = select_rows(%seen) {via = [cross.right]}
%sums = add(%left, %right)
%numbers = tanh(%sums)
%part = slice(%numbers) {begin = $h, end = $m}
%dots = head_dot(%left, %right) {heads = $h, scale = 0.3}
%scores = add(%dots, %part)
%weights = segment_softmax(%scores) {to = [cross.left]}
%b = mix_rows(%weights, %seen) {to = [cross.left], via = [cross.right]}
%others = head_dot(%sums, %sums) {heads = $h, scale = 0.2}
%left2 = select_rows(%word) {via = [cross.left]}
%dots2 = head_dot(%left2, %right) {heads = $h, scale = 0.3}
%scores2 = add(%dots2, %others)
%weights2 = segment_softmax(%scores2) {to = [cross.left]}
%c = mix_rows(%weights2, %seen) {to = [cross.left], via = [cross.right]}
%y = concat(%a, %b, %c)
return logits = %y, alignment = %weights
)ir";

Graph graph_of_heads(std::int64_t heads) {
  std::string text(kGraph);
  const auto replace = [&text](std::string_view from, std::int64_t number) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
      text.replace(at, from.size(), std::to_string(number));
  };
  replace("$h", heads);
  replace("$m", 2 * heads);
  replace("$n", 5 * heads);
  return parse_graph(text, "test.ir", all_ops());
}

/// The same with fused attention, in which no later pass can hide queries.
Graph fused_graph_of_heads(std::int64_t heads) {
  Graph graph = graph_of_heads(heads);
  optimize(graph, {.passes = "fuse_attention"});
  return graph;
}

/// What the hypotheses of sentences first … first + count - 1 saw in some steps of a batch.
Rows rows_of(const Graph& graph, const CompileOptions& options, std::size_t first = 0,
             std::size_t count = 5) {
  std::vector<WordIds> sentences = random_sentences(2, 5, 19);
  sentences = {sentences.begin() + static_cast<std::ptrdiff_t>(first),
               sentences.begin() + static_cast<std::ptrdiff_t>(first + count)};
  const auto executable = compile(graph, uniform_weights(graph, 7, 0.7f), options);
  const auto worker = executable->make_worker();
  Rows rows;
  for (const Trace& trace : run_trace(*worker, *executable, sentences, 4, 9))
    rows.insert(rows.end(), trace.rows.begin(), trace.rows.end());
  return rows;
}

double largest_difference(const Rows& a, const Rows& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t c = 0; c < a[r].size(); ++c)
      largest = std::max(largest, std::fabs(static_cast<double>(a[r][c]) - b[r][c]));
  return largest;
}

class BiasedAttention : public ::testing::TestWithParam<std::string> {
 protected:
  BiasedAttention() { cpu::force_isa(GetParam()); }
  ~BiasedAttention() override { cpu::force_isa(before_); }

  const std::string before_ = cpu::active_isa();
};

TEST_P(BiasedAttention, GivesTheBytesOfSeparateNodes) {
  for (const std::int64_t heads : {1, 3, 8, 12, 17}) {
    SCOPED_TRACE(heads);
    const Graph graph = graph_of_heads(heads);
    const Rows want = rows_of(graph, {.passes = "none"});
    EXPECT_EQ(rows_of(graph, {.passes = "fuse_attention"}), want);
    EXPECT_LT(largest_difference(rows_of(graph, {.backend = "reference", .passes = "none"}), want),
              1e-5);
  }
}

TEST_P(BiasedAttention, TakesKeysAndValuesOfBytes) {
  for (const std::int64_t heads : {3, 12}) {
    SCOPED_TRACE(heads);
    const Graph graph = fused_graph_of_heads(heads);
    const auto floats = rows_of(graph, {.backend = "reference"});
    const auto want = rows_of(graph, {.backend = "reference", .kv_cache = KvCache::int8});
    const auto got = rows_of(graph, {.kv_cache = KvCache::int8});
    // What is almost half way between two integers may go to either.
    EXPECT_LT(largest_difference(got, want), 3e-4);
    EXPECT_GT(largest_difference(floats, want), 5e-4) << "is anything quantized?";
    EXPECT_LT(largest_difference(floats, want), 0.01);
  }
}

TEST_P(BiasedAttention, HasTheSameBytesInAnyBatchAndWithAnyThreads) {
  const Graph graph = fused_graph_of_heads(12);
  for (const KvCache kv_cache : {KvCache::fp32, KvCache::int8}) {
    const Rows all = rows_of(graph, {.kv_cache = kv_cache});
    EXPECT_EQ(rows_of(graph, {.kv_cache = kv_cache, .threads_per_sentence = 3}), all);
    Rows joined;
    for (std::size_t i = 0; i < 5; ++i)
      for (const auto& row : rows_of(graph, {.kv_cache = kv_cache}, i, 1)) joined.push_back(row);
    EXPECT_EQ(joined, all);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, BiasedAttention, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

/// The kernels of attention in a program, which copies no row out of a table of positions.
std::vector<std::string> attention_of(const Graph& whole, BindingTime time) {
  const Programs programs = split_by_binding_time(whole);
  const ProgramPlans plans = plan_programs(programs, find_backend("cpu"));
  const Graph& graph = program(programs, time);
  std::vector<std::string> kernels;
  for (const PlannedNode& planned : plans[static_cast<std::size_t>(time)]) {
    EXPECT_FALSE(planned.on_reference) << planned.kernel;
    if (planned.kernel.ends_with("attention")) kernels.push_back(planned.kernel);
    const Node& node = graph.node(planned.node);
    const bool is_position =
        node.is<op::SelectRows>() &&
        graph.map(node.as<op::SelectRows>().via.front()).kind == MapKind::distance;
    EXPECT_FALSE(is_position && planned.launched) << graph.describe(node);
  }
  return kernels;
}

TEST(BiasedAttention, ReadsTheTableInPlace) {
  for (const KvCache kv_cache : {KvCache::fp32, KvCache::int8}) {
    Graph graph = fused_graph_of_heads(12);
    optimize(graph, {.kv_cache = kv_cache});
    const std::string of_steps =
        kv_cache == KvCache::fp32 ? "dot_attention" : "quantized_dot_attention";
    EXPECT_THAT(attention_of(graph, BindingTime::source), ::testing::ElementsAre("dot_attention"));
    EXPECT_THAT(attention_of(graph, BindingTime::step),
                ::testing::ElementsAre(of_steps, of_steps, of_steps));
  }
}

}  // namespace
}  // namespace fuselage::biased_attention_test
