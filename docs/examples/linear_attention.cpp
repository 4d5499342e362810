#include "fuselage/ops/builder.h"

using namespace fuselage;

// Linear attention with decay over the words of a text (Katharopoulos et al. 2020, section 3.4,
// with the gates of later models): the state of each head is a matrix, the sum of key-value
// products.
Graph linear_attention(std::int64_t words, std::int64_t heads, std::int64_t width) {
  Builder b("linear_attention");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("words", words);
  const DomainId source = g.add_source("src", g.add_sentences("sentence"));
  const MapId word = g.add_word_map("src.word", source, vocabulary, /*partial=*/false);
  const DomainId loop = g.add_scan("loop", source, /*reversed=*/false);

  const std::int64_t size = heads * width;
  const Expr embedding = b.param("E", {size}, vocabulary);
  const Expr x = broadcast(select_rows(embedding, {word}), loop);
  const auto by_head = [&](const char* name) {
    return reshape(dot(x, b.param(name, {size, size})), {heads, width});
  };
  const Expr query = by_head("Wq"), key = by_head("Wk"), value = by_head("Wv");
  const Expr decay = reshape(sigmoid(by_head("Wd")), {heads, width, 1});

  const Expr state = b.state(b.constant(0, {heads, width, width}), loop);
  const Expr next = state * expand(decay, {heads, width, width}) + outer(key, value);
  b.next(state, next);
  const Expr attended = batch_matmul(reshape(query, {heads, 1, width}), next);
  b.output("o", collect(reshape(attended, {size})));
  return b.take();
}
