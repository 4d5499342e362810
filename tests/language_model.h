#pragma once

#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"
#include "fuselage/models/make_model.h"
#include "fuselage/ops/builder.h"
#include "tests/random_weights.h"

namespace fuselage::support {

/// The words of the small language model, the end symbol and the unknown word first.
inline const std::vector<std::string>& language_model_words() {
  static const std::vector<std::string> words{"</s>", "<unk>", "a",   "rose", "is",
                                              "red",  "the",   "sky", "and",  "so"};
  return words;
}

/// A language model in its smallest form: a graph without a source. Attention over the words so
/// far, and a recurrent state, so that both kinds of memory take part.
inline Graph small_language_model(std::int64_t words, std::int64_t size) {
  Builder b("language");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("words", words);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId prefix = g.add_prefix("prefix", hyp);
  const DomainId hyp_prefix = g.add_pairs("hyp_prefix", hyp, prefix);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);

  const auto weight = [&](const std::string& name) { return b.param(name, {size, size}); };
  const Expr embedding = b.param("E", {size}, vocabulary);
  const Expr x = select_rows(embedding, {last_word}) + sinusoid(b.position(hyp), size);
  const Expr past = history(x, prefix);
  const Expr query = dot(x, weight("Wq"));
  const Expr weights = softmax_over_right(head_dot(left(query, hyp_prefix),
                                                   right(dot(past, weight("Wk")), hyp_prefix), 2,
                                                   1 / std::sqrt(static_cast<double>(size) / 2)));
  const Expr attended = x + dot(mix(weights, dot(past, weight("Wv"))), weight("Wo"));
  const Expr state = b.state(b.constant(0, {size}), parent);
  const Expr s = tanh(dot(attended, weight("W")) + dot(broadcast(state, hyp), weight("U")));
  b.next(state, s);
  b.output("logits", dot_transposed(s + relu(dot(attended, weight("V"))), embedding));
  return b.take();
}

/// The small language model with random weights, and its vocabulary, which is written to `path`.
inline Model make_language_model(const std::string& path) {
  std::ofstream file(path);
  for (const std::string& word : language_model_words()) file << word << "\n";
  file.close();
  Graph graph = small_language_model(static_cast<std::int64_t>(language_model_words().size()), 8);
  std::mt19937 random(11);
  const TensorMap weights = weights_for(graph, [&](const Type&, const Dims& shape) {
    return tensor_of(shape, [&] { return static_cast<float>(random() % 2001) / 1000.0f - 1.0f; });
  });
  return make_model(std::move(graph), weights, {path});
}

}  // namespace fuselage::support
