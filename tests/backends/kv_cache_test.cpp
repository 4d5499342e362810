// Attention of a decoder to keys and values in 8 bits, on the CPU: beside the reference
// interpreter, and beside floats.

#include <algorithm>

#include "backends/cpu/runtime/isa.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/registry.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage::kv_cache_test {
namespace {

using support::random_sentences;
using support::run_trace;
using support::Trace;

/// A decoder that attends to the source text and to its own words, by heads whose keys and values
/// have different widths; both are parts of wider products. The encoder attends to itself.
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
map source.word : source -> words
map hyp.word : hyp -> words partial
%table = param() {name = "table", domain = words, dims = [36]}
%kv = param() {name = "kv", dims = [36, 153]}
%word_kv = param() {name = "word_kv", dims = [36, 153]}
%w = param() {name = "w", dims = [51, 36]}
%read = select_rows(%table) {via = [source.word]}
%own_weights, %seen = dot_attention(%read, %read, %read) {left = [own.left], right = [own.right], heads = 3, scale = 0.3}
%all = matmul(%seen, %kv)
%keys = slice(%all) {begin = 51, end = 87}
%values = slice(%all) {begin = 102, end = 153}
%word = select_rows(%table) {via = [hyp.word]}
%said = history(%word) {domain = prefix}
%all_said = matmul(%said, %word_kv)
%said_keys = slice(%all_said) {begin = 51, end = 87}
%said_values = slice(%all_said) {begin = 102, end = 153}
%said_weights, %a = dot_attention(%word, %said_keys, %said_values) {left = [causal.left], right = [causal.right], heads = 3, scale = 0.3}
%query = matmul(%a, %w)
%weights, %b = dot_attention(%query, %keys, %values) {left = [cross.left], right = [cross.right], heads = 3, scale = 0.3}
%y = concat(%a, %b)
return logits = %y
)ir";

class KvCacheInt8 : public ::testing::TestWithParam<std::string> {
 protected:
  KvCacheInt8() { cpu::force_isa(GetParam()); }
  ~KvCacheInt8() override { cpu::force_isa(before_); }

  /// What all hypotheses saw in some steps of a batch.
  std::vector<std::vector<float>> rows_of(const CompileOptions& options, std::size_t first = 0,
                                          std::size_t count = 5) const {
    std::vector<WordIds> sentences = random_sentences(2, 5, 19);
    sentences = {sentences.begin() + static_cast<std::ptrdiff_t>(first),
                 sentences.begin() + static_cast<std::ptrdiff_t>(first + count)};
    const auto executable = compile(graph_, uniform_weights(graph_, 7, 0.5f), options);
    const auto worker = executable->make_worker();
    std::vector<std::vector<float>> rows;
    for (const Trace& trace : run_trace(*worker, *executable, sentences, 3, 9))
      rows.insert(rows.end(), trace.rows.begin(), trace.rows.end());
    return rows;
  }

  const std::string before_ = cpu::active_isa();
  const Graph graph_ = parse_graph(kGraph, "test.ir", all_ops());
};

double largest_difference(const std::vector<std::vector<float>>& a,
                          const std::vector<std::vector<float>>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t r = 0; r < a.size(); ++r)
    for (std::size_t c = 0; c < a[r].size(); ++c)
      largest = std::max(largest, std::fabs(static_cast<double>(a[r][c]) - b[r][c]));
  return largest;
}

TEST_P(KvCacheInt8, AgreesWithTheReferenceInterpreter) {
  const auto want = rows_of({.backend = "reference", .kv_cache = KvCache::int8});
  const auto floats = rows_of({.backend = "reference"});
  const auto got = rows_of({.kv_cache = KvCache::int8});
  // Products of floats are summed in another order, and what is almost half way between two
  // integers may go to either.
  EXPECT_LT(largest_difference(got, want), 1e-3);
  EXPECT_GT(largest_difference(floats, want), 2e-3) << "is anything quantized?";
  EXPECT_LT(largest_difference(floats, want), 0.02);
}

TEST_P(KvCacheInt8, HasTheSameBytesInAnyBatchAndWithAnyThreads) {
  const auto all = rows_of({.kv_cache = KvCache::int8});
  EXPECT_EQ(rows_of({.kv_cache = KvCache::int8, .threads_per_sentence = 3}), all);
  std::vector<std::vector<float>> joined;
  for (std::size_t i = 0; i < 5; ++i)
    for (const auto& row : rows_of({.kv_cache = KvCache::int8}, i, 1)) joined.push_back(row);
  EXPECT_EQ(joined, all);
}

INSTANTIATE_TEST_SUITE_P(Levels, KvCacheInt8, ::testing::ValuesIn(cpu::supported_isas()),
                         [](const auto& isa) { return isa.param; });

/// The nodes of a program with their kernels.
std::vector<PlannedNode> planned(const Graph& graph, BindingTime time) {
  const ProgramPlans plans = plan_programs(split_by_binding_time(graph), find_backend("cpu"));
  return plans[static_cast<std::size_t>(time)];
}

TEST(KvCache, TakesKernelsForEachAttentionOfTheDecoder) {
  Graph graph = parse_graph(kGraph, "test.ir", all_ops());
  optimize(graph, {.kv_cache = KvCache::int8});
  const auto kernels_of = [&graph](BindingTime time) {
    std::vector<std::string> kernels;
    for (const PlannedNode& node : planned(graph, time)) {
      EXPECT_FALSE(node.on_reference) << node.kernel;
      if (node.kernel.ends_with("attention")) kernels.push_back(node.kernel);
    }
    return kernels;
  };
  EXPECT_THAT(kernels_of(BindingTime::source), ::testing::ElementsAre("dot_attention"));
  EXPECT_THAT(kernels_of(BindingTime::step),
              ::testing::ElementsAre("quantized_dot_attention", "quantized_dot_attention"));
}

TEST(KvCache, IsAllThatIsKeptOfAPrefix) {
  for (const KvCache type : {KvCache::fp32, KvCache::int8}) {
    Graph graph = parse_graph(kGraph, "test.ir", all_ops());
    optimize(graph, {.kv_cache = type});
    const Programs programs = split_by_binding_time(graph);
    const ProgramPlan plan = plan_program(program(programs, BindingTime::step),
                                          find_backend("cpu").kernels(BindingTime::step));
    std::vector<std::int64_t> kept;
    for (const Buffer& buffer : plan.buffers)
      if (plan.graph.domain(buffer.domain).kind == DomainKind::prefix && !buffer.newest_only)
        kept.push_back(buffer.row_elements);
    // The product has further columns. In 8 bits a head has a scale, and 12 keys or 17 values.
    if (type == KvCache::fp32)
      EXPECT_THAT(kept, ::testing::ElementsAre(153));
    else
      EXPECT_THAT(kept, ::testing::ElementsAre(3 * (1 + 12 / 4), 3 * (1 + 20 / 4)));
  }
}

TEST(KvCache, OfOtherTypesRunsByTheReferenceEvaluation) {
  std::string text(kGraph);
  const std::string_view attention = "dot_attention(%query, %keys";
  text.replace(text.find(attention), attention.size(), "dot_attention(%short, %keys");
  text.insert(text.find("%weights, %b"), "%short = quantize(%query) {vectors = 3}\n");
  const Graph graph = parse_graph(text, "test.ir", all_ops());
  const std::vector<PlannedNode> nodes = planned(graph, BindingTime::step);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(),
                          [](const PlannedNode& node) { return node.on_reference; }),
            1);
}

}  // namespace
}  // namespace fuselage::kv_cache_test
