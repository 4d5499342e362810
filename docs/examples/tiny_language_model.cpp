#include <cmath>

#include "fuselage/decoding/generator.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/builder.h"

using namespace fuselage;

// One layer of a decoder-only transformer, with a single normalization.
Graph tiny_language_model(std::int64_t vocabulary_size, std::int64_t size, std::int64_t heads) {
  Builder b("tiny_language_model");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", vocabulary_size);
  const DomainId text = g.add_sentences("text");
  const DomainId parent = g.add_parents("parent", text);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId prefix = g.add_prefix("prefix", hyp);
  const DomainId hyp_prefix = g.add_pairs("hyp_prefix", hyp, prefix);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);

  // The last word and its position; zeros in place of a word before the first one.
  const Expr embedding = b.param("E", {size}, vocabulary);
  const Expr x = select_rows(embedding, {last_word}) + sinusoid(b.position(hyp), size);

  // Attention of the hypothesis to its words so far, the last one included.
  const Expr past = history(x, prefix);
  const Expr queries = dot(x, b.param("Wq", {size, size}));
  const Expr keys = dot(past, b.param("Wk", {size, size}));
  const Expr values = dot(past, b.param("Wv", {size, size}));
  const double scale = std::sqrt(static_cast<double>(heads) / static_cast<double>(size));
  const Expr weights = softmax_over_right(
      head_dot(left(queries, hyp_prefix), right(keys, hyp_prefix), heads, scale));
  const Expr attended = x + dot(mix(weights, values), b.param("Wo", {size, size}));

  const Expr inner = relu(dot(attended, b.param("W1", {size, 4 * size})));
  const Expr y = attended + dot(inner, b.param("W2", {4 * size, size}));
  const Expr output = layer_norm(y, b.param("gain", {size}), b.param("bias", {size}), 1e-6);
  b.output("logits", dot_transposed(output, embedding));
  return b.take();
}

Generation continue_text(const TensorMap& weights, const std::string& vocabulary,
                         std::string_view prompt) {
  const Model model = make_model(tiny_language_model(1000, 16, 2), weights, {vocabulary});
  return Generator(model, {.beam_size = 4, .max_new_tokens = 32}).generate(prompt);
}
