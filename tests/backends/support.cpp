#include "support.h"

#include <algorithm>

#include "fuselage/ops/structure/leaf.h"
#include "tests/random_weights.h"

namespace fuselage::support {
namespace {

Tensor random_tensor(std::mt19937& random, std::vector<std::int64_t> shape) {
  Tensor tensor(DType::f32, std::move(shape));
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] = uniform(random);
  return tensor;
}

/// Fills `weights` with a random tensor for each `param` of the graph.
void fill_weights(const Graph& graph, TensorMap& weights, unsigned seed) {
  std::mt19937 random(seed);
  weights.merge(weights_for(
      graph, [&random](const Type&, const Dims& shape) { return random_tensor(random, shape); }));
}

}  // namespace

ToyModel toy_model(unsigned seed) {
  constexpr std::int64_t kSize = 20;
  Builder b("toy");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", ToyModel::kVocabulary);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const DomainId pairs = g.add_pairs("source_pairs", source, source);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId prefix = g.add_prefix("prefix", hyp);
  const DomainId hyp_source = g.add_pairs("hyp_source", hyp, source);
  const DomainId hyp_prefix = g.add_pairs("hyp_prefix", hyp, prefix);
  const MapId source_word = g.add_word_map("source.word", source, vocabulary, false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, true);
  const auto matrix = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    return b.param(name, {in, out});
  };
  const Expr table = b.param("table", {kSize}, vocabulary);

  Expr x = select_rows(table, {source_word}) * 2 + sinusoid(b.position(source), kSize);
  x = x + mix(softmax_over_right(head_dot(left(x, pairs), right(x, pairs), 4, 0.3)), x);
  std::vector<Expr> directions;
  for (const bool reversed : {false, true}) {
    const std::string n = reversed ? "backward" : "forward";
    const DomainId scan = g.add_scan(n, source, reversed);
    const Expr state = b.state(b.constant(0, {kSize}), scan);
    const Expr z = sigmoid(dot(broadcast(x, scan), matrix(n + "_W", kSize, kSize)) +
                           dot(state, matrix(n + "_U", kSize, kSize)));
    const Expr s = (1 - z) * tanh(broadcast(x, scan)) + z * state;
    b.next(state, s);
    directions.push_back(collect(s));
  }
  const Expr context = concat(directions);
  const Expr start = tanh(dot(mean_rows(context), matrix("start", 2 * kSize, kSize)));

  const Expr state = b.state(start, parent);
  const Expr y = select_rows(table, {last_word}) + sinusoid(b.position(hyp), kSize);
  const Expr h = tanh(dot(y, matrix("in", kSize, kSize)) + broadcast(state, hyp));
  const Expr keys =
      dot(history(h, prefix), matrix("keys", kSize, kSize)) + b.param("bias", {kSize});
  const Expr self =
      mix(softmax_over_right(head_dot(left(h, hyp_prefix), right(keys, hyp_prefix), 2, 0.5)), keys);
  const Expr energy = tanh(right(dot(context, matrix("wc", 2 * kSize, kSize)), hyp_source) +
                           left(self, hyp_source));
  const Expr weights = softmax_over_right(dot(energy, matrix("v", kSize, 1)));
  const Expr attended = dot(mix(weights, context), matrix("attended", 2 * kSize, kSize));
  const Expr next = layer_norm(h + self + attended, b.param("gain", {kSize}), {}, 1e-6);
  b.next(state, next);
  const Expr logits = dot_transposed(swish(next), table);
  const Expr log_probs = log_softmax(logits);
  b.output("logits", log_probs);
  b.output("alignment", weights);

  ToyModel model{b.take(), {}};
  fill_weights(model.graph, model.weights, seed);
  return model;
}

ToyModel linear_attention_model(unsigned seed) {
  constexpr std::int64_t kHeads = 2, kWidth = 3, kModel = kHeads * kWidth;
  Builder b("linear_attention");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", ToyModel::kVocabulary);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const DomainId scan = g.add_scan("scan", source, /*reversed=*/false);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId source_word = g.add_word_map("source.word", source, vocabulary, false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, true);
  const Expr table = b.param("table", {kModel}, vocabulary);
  const Expr zero = b.constant(0, {kHeads, kWidth, kWidth});

  /// One step: the new state and what its queries read.
  const auto step = [&](const std::string& n, Expr x, Expr s) {
    const auto heads = [&](const std::string& name) {
      return reshape(dot(x, b.param(n + name, {kModel, kModel})), {kHeads, kWidth});
    };
    const Expr decay = expand(reshape(sigmoid(heads("_w")), {kHeads, kWidth, 1}), zero.type().dims);
    const Expr next = decay * s + outer(heads("_k"), heads("_v"));
    const Expr q = reshape(heads("_q"), {kHeads, 1, kWidth});
    return std::pair{next, reshape(batch_matmul(q, next), {kModel})};
  };

  const Expr read = b.state(zero, scan);
  const auto [encoded, y] =
      step("encoder", broadcast(select_rows(table, {source_word}), scan), read);
  b.next(read, encoded);
  const Expr context = mean_rows(collect(y));
  const Expr states = collect(encoded);  // every state of the scan, as rows of the source
  const Expr norm = reduce_sum(reshape(states * states, {kHeads * kWidth * kWidth}));

  const Expr state = b.state(zero, parent);
  const Expr x = select_rows(table, {last_word}) + broadcast(context * mean_rows(norm), hyp);
  const auto [next, h] = step("decoder", x, broadcast(state, hyp));
  b.next(state, next);
  b.output("logits", log_softmax(dot_transposed(tanh(h), table)));

  ToyModel model{b.take(), {}};
  fill_weights(model.graph, model.weights, seed);
  return model;
}

std::vector<WordIds> random_sentences(unsigned seed, int count, int longest) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> length(0, longest - 1);
  std::uniform_int_distribution<int> word(1, static_cast<int>(ToyModel::kVocabulary) - 1);
  std::vector<WordIds> sentences;
  for (int s = 0; s < count; ++s) {
    WordIds words(static_cast<std::size_t>(length(random)));
    for (auto& w : words) w = word(random);
    words.push_back(0);
    sentences.push_back(std::move(words));
  }
  return sentences;
}

std::vector<Trace> run_trace(Worker& worker, const Executable& executable,
                             const std::vector<WordIds>& sentences, int width, int steps) {
  const auto count = static_cast<std::int32_t>(sentences.size());
  worker.begin(sentences, {std::vector<std::int32_t>(sentences.size(), width),
                           std::vector<std::int32_t>(sentences.size(), steps)});
  std::vector<Trace> traces(sentences.size());
  std::int32_t last_width = 0;
  for (std::int32_t t = 0; t < steps; ++t) {
    // The beam grows to `width`, then shrinks; parents repeat, so that some die out.
    const std::int32_t now = t == 0 ? 1 : std::max(1, width - t / 3);
    std::vector<std::int32_t> parents, parent_sentence, hypothesis_parent, words, positions;
    for (std::int32_t s = 0; s < count; ++s) {
      std::vector<std::int32_t> known;
      for (std::int32_t h = 0; h < now; ++h) {
        const std::int32_t row = t == 0 ? -1 : s * last_width + (h * h + t) % last_width;
        auto at = std::find(known.begin(), known.end(), row);
        if (at == known.end()) {
          parents.push_back(row);
          parent_sentence.push_back(s);
          at = known.insert(known.end(), row);
        }
        const auto before = static_cast<std::int32_t>(parents.size() - known.size());
        hypothesis_parent.push_back(before + static_cast<std::int32_t>(at - known.begin()));
        const auto length =
            static_cast<std::int32_t>(sentences[static_cast<std::size_t>(s)].size());
        words.push_back(t == 0 ? -1 : (7 * t + 3 * h + length) % ToyModel::kVocabulary);
        positions.push_back(t);
      }
    }
    worker.step({parents, parent_sentence, hypothesis_parent, words, positions});
    last_width = now;
    const OutputRows<float> logits = worker.floats(executable.output("logits"));
    for (std::int32_t row = 0; row < count * now; ++row) {
      const auto span = logits.row(row);
      traces[static_cast<std::size_t>(row / now)].rows.emplace_back(span.begin(), span.end());
    }
  }
  return traces;
}

}  // namespace fuselage::support
