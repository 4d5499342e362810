// Attention over several groups together, against its definition without normalization.

#include <cmath>
#include <random>

#include "fuselage/backends/compile.h"
#include "fuselage/ops/builder.h"
#include "support.h"
#include "tests/random_weights.h"

namespace fuselage {
namespace {

constexpr std::int64_t kHeads = 2, kWidth = 3, kModel = kHeads * kWidth;

/// Outputs "joint", attention over the source and the words generated so far, and "plain", the sums
/// of exp(score) × value divided by the sums of exp(score).
Graph attention_to_source_and_prefix() {
  Builder b("joint_attention");
  Graph& g = b.graph();
  const DomainId words = g.add_vocabulary("words", support::ToyModel::kVocabulary);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId prefix = g.add_prefix("prefix", hyp);
  const DomainId cross = g.add_pairs("cross", hyp, source);
  const DomainId causal = g.add_pairs("causal", hyp, prefix);
  const MapId source_word = g.add_word_map("source.word", source, words, /*partial=*/false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, words, /*partial=*/true);
  const Expr table = b.param("table", {kModel}, words);
  const Expr x = select_rows(table, {source_word});
  const Expr y = select_rows(table, {last_word}) + b.param("start", {kModel});
  const Expr past = history(y, prefix);
  const auto scores = [&](Expr keys, DomainId pairs) {
    return head_dot(left(y, pairs), right(keys, pairs), kHeads, 1);
  };
  const Expr of_source = scores(x, cross), of_prefix = scores(past, causal);
  b.output("joint", joint_attention({{of_source, x}, {of_prefix, past}}));
  const Expr sums = mix(exp(of_source), x) + mix(exp(of_prefix), past);
  const Expr total = sum_rows(exp(of_source)) + sum_rows(exp(of_prefix));
  const Expr divisor = expand(reshape(total, {kHeads, 1}), {kHeads, kWidth});
  b.output("plain", sums / reshape(divisor, {kModel}));
  return b.take();
}

TEST(JointAttention, IsOneSoftmaxOverAllGroups) {
  const Graph graph = attention_to_source_and_prefix();
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const auto draw = [&] { return normal(random); };
  const TensorMap weights =
      weights_for(graph, [&](const Type&, const Dims& shape) { return tensor_of(shape, draw); });
  for (const char* backend : {"reference", "cpu"})
    for (const char* passes : {"none", "all"}) {
      SCOPED_TRACE(std::string(backend) + " " + passes);
      const auto executable = compile(graph, weights, {.backend = backend, .passes = passes});
      const auto worker = executable->make_worker();
      const std::vector<WordIds> sentences{{3, 1, 4, 0}};
      worker->begin(sentences, {{1}, {4}});
      for (std::int32_t t = 0; t < 4; ++t) {
        worker->step({std::vector{t - 1 < 0 ? -1 : 0}, std::vector{0}, std::vector{0},
                      std::vector{t == 0 ? -1 : 7 + t}, std::vector{t}});
        const auto joint = worker->floats(executable->output("joint"));
        const auto plain = worker->floats(executable->output("plain"));
        ASSERT_EQ(joint.rows, 1);
        for (std::int64_t c = 0; c < kModel; ++c)
          EXPECT_NEAR(joint.data[c], plain.data[c], 1e-5 * (1 + std::fabs(plain.data[c])));
      }
    }
}

}  // namespace
}  // namespace fuselage
