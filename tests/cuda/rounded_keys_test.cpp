// Keys and values of a decoder in 16 bits: beside the reference interpreter on the same graph,
// beside floats, in any batch, and in memory.

#include <algorithm>
#include <cmath>

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"
#include "backends/reference/backend.h"
#include "device_array.h"
#include "fuselage/backends/compile.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"
#include "tests/backends/support.h"
#include "tests/random_weights.h"

namespace fuselage::cuda::rounded_keys_test {
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
%table = param() {name = "table", domain = words, dims = [48]}
%kv = param() {name = "kv", dims = [48, 160]}
%word_qkv = param() {name = "word_qkv", dims = [48, 160]}
%b = param() {name = "b", dims = [160]}
%w = param() {name = "w", dims = [64, 48]}
%read = select_rows(%table) {via = [source.word]}
%own_weights, %seen = dot_attention(%read, %read, %read) {left = [own.left], right = [own.right], heads = 4, scale = 0.3}
%all = matmul(%seen, %kv)
%keys = slice(%all) {begin = 16, end = 64}
%values = slice(%all) {begin = 64, end = 128}
%word = select_rows(%table) {via = [hyp.word]}
%own_rows = matmul(%word, %word_qkv)
%own_sum = add(%own_rows, %b)
%own_queries = slice(%own_sum) {begin = 0, end = 48}
%own_keys = slice(%own_sum) {begin = 48, end = 96}
%own_values = slice(%own_sum) {begin = 96, end = 160}
%said_keys = history(%own_keys) {domain = prefix}
%said_values = history(%own_values) {domain = prefix}
%said_weights, %a = dot_attention(%own_queries, %said_keys, %said_values) {left = [causal.left], right = [causal.right], heads = 4, scale = 0.3}
%query = matmul(%a, %w)
%weights, %c = dot_attention(%query, %keys, %values) {left = [cross.left], right = [cross.right], heads = 4, scale = 0.3}
%y = concat(%a, %c)
return logits = %y
)ir";

class RoundedKeys : public CudaTest, public ::testing::WithParamInterface<Precision> {
 protected:
  Graph optimized(Precision precision) const {
    Graph graph = graph_;
    optimize(graph, {.backend = "cuda", .precision = precision});
    return graph;
  }

  std::unique_ptr<Executable> compiled(Precision precision) const {
    return make_cuda_executable(split_by_binding_time(optimized(precision)), weights_,
                                {.blas = {.deterministic = true}}, cuda_kernels(),
                                kernel_registry());
  }

  /// What all hypotheses saw in some steps of a batch of five sentences, or of `count` of them.
  static std::vector<std::vector<float>> rows_of(const Executable& executable,
                                                 std::size_t first = 0, std::size_t count = 5) {
    std::vector<WordIds> sentences = random_sentences(2, 5, 19);
    sentences = {sentences.begin() + static_cast<std::ptrdiff_t>(first),
                 sentences.begin() + static_cast<std::ptrdiff_t>(first + count)};
    const auto worker = executable.make_worker();
    std::vector<std::vector<float>> rows;
    for (const Trace& trace : run_trace(*worker, executable, sentences, 3, 9))
      rows.insert(rows.end(), trace.rows.begin(), trace.rows.end());
    return rows;
  }

  const Graph graph_ = parse_graph(kGraph, "test.ir", all_ops());
  const TensorMap weights_ = uniform_weights(graph_, 7, 0.5f);
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

TEST_P(RoundedKeys, AgreeWithTheReferenceInterpreter) {
  const Graph graph = optimized(GetParam());
  const auto want = rows_of(*compile_reference(graph, weights_));
  const auto got = rows_of(*compiled(GetParam()));
  const auto floats = rows_of(*compiled(Precision::fp32));
  // Sums in another order may round to another number of 16 bits.
  const double one = GetParam() == Precision::bf16 ? 1.0 / 256 : 1.0 / 2048;
  EXPECT_LT(largest_difference(got, want), one / 4);
  EXPECT_GT(largest_difference(floats, want), one / 8) << "is anything rounded?";
  EXPECT_LT(largest_difference(floats, want), 4 * one);
}

TEST_P(RoundedKeys, GiveTheSameBytesInAnyBatch) {
  const auto executable = compiled(GetParam());
  const auto all = rows_of(*executable);
  std::vector<std::vector<float>> joined;
  for (std::size_t i = 0; i < 5; ++i)
    for (const auto& row : rows_of(*executable, i, 1)) joined.push_back(row);
  EXPECT_EQ(joined, all);
}

/// The sizes, in bytes, of rows that steps keep and that they import from the source program.
std::vector<std::int64_t> row_bytes_of(const Graph& graph) {
  const Programs programs = split_by_binding_time(graph);
  const ProgramPlan plan = plan_program(program(programs, BindingTime::step), cuda_kernels());
  std::vector<std::int64_t> sizes;
  for (const Buffer& buffer : plan.buffers) {
    const DomainKind kind = plan.graph.domain(buffer.domain).kind;
    if (buffer.kind == Buffer::Kind::imported ||
        (kind == DomainKind::prefix && !buffer.newest_only))
      sizes.push_back(4 * buffer.row_elements);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

TEST_P(RoundedKeys, AreHalfAsLongInMemory) {
  EXPECT_THAT(row_bytes_of(optimized(Precision::fp32)),
              ::testing::ElementsAre(4 * 48, 4 * 48, 4 * 64, 4 * 64));
  EXPECT_THAT(row_bytes_of(optimized(GetParam())),
              ::testing::ElementsAre(2 * 48, 2 * 48, 2 * 64, 2 * 64));
}

TEST_P(RoundedKeys, AreRoundedWithoutFurtherLaunchesInAStep) {
  const auto launched = [this](Precision precision) {
    const Programs programs = split_by_binding_time(optimized(precision));
    const auto nodes =
        planned_nodes(plan_program(program(programs, BindingTime::step), cuda_kernels()));
    return std::count_if(nodes.begin(), nodes.end(), [](const PlannedNode& node) {
      return node.launched && node.kernel != "quantize_rows";
    });
  };
  EXPECT_EQ(launched(GetParam()), launched(Precision::fp32));
}

INSTANTIATE_TEST_SUITE_P(Types, RoundedKeys, ::testing::Values(Precision::bf16, Precision::fp16),
                         [](const auto& test) { return std::string(to_string(test.param)); });

}  // namespace
}  // namespace fuselage::cuda::rounded_keys_test
