#include "fuselage/ops/builder.h"

// An encoder-decoder in its smallest form: a minimal gated unit on each side, additive attention
// between them.

namespace {

using namespace fuselage;

/// Forget gate and candidate share one gate (Zhou et al. 2016, equation 6).
Expr minimal_gated_unit(Builder& b, const std::string& name, Expr x, Expr s) {
  const Builder::Scope scope(b, name);
  const std::int64_t in = x.width(), size = s.width();
  const Expr f =
      sigmoid(dot(x, b.param(name + "_Wf", {in, size})) +
              dot(s, b.param(name + "_Uf", {size, size})) + b.param(name + "_bf", {size}));
  const Expr h =
      tanh(dot(x, b.param(name + "_Wh", {in, size})) +
           dot(f * s, b.param(name + "_Uh", {size, size})) + b.param(name + "_bh", {size}));
  return (1 - f) * s + f * h;
}

}  // namespace

Graph tiny_translator(std::int64_t vocabulary_size, std::int64_t size) {
  Builder b("tiny");
  Graph& g = b.graph();

  // Rows: what there is one of. Maps lead from each row to where it belongs.
  const DomainId vocabulary = g.add_vocabulary("vocabulary", vocabulary_size);
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId hyp_source = g.add_pairs("hyp_source", hyp, source);
  const MapId source_word = g.add_word_map("source.word", source, vocabulary, /*partial=*/false);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);

  // Encoder: a loop over the source positions.
  const Expr embedding = b.param("E", {size}, vocabulary);
  const DomainId forward = g.add_scan("forward", source, /*reversed=*/false);
  const Expr read = b.state(b.constant(0, {size}), forward);
  const Expr word = broadcast(select_rows(embedding, {source_word}), forward);
  const Expr encoded = minimal_gated_unit(b, "encoder", word, read);
  b.next(read, encoded);
  const Expr context = collect(encoded);

  // Decoder: the equations of one step. A state lives with the hypothesis that it came from.
  const Expr state =
      b.state(tanh(dot(mean_rows(context), b.param("start_W", {size, size}))), parent);
  const Expr last = select_rows(embedding, {last_word});  // zeros before the first word
  const Expr s = minimal_gated_unit(b, "decoder", last, broadcast(state, hyp));
  b.next(state, s);

  // Attention: for each pair of hypothesis and source token a score, normalized over the tokens.
  const Expr keys = dot(context, b.param("attention_U", {size, size}));
  const Expr query = dot(s, b.param("attention_W", {size, size}));
  const Expr energy = tanh(right(keys, hyp_source) + left(query, hyp_source));
  const Expr weights = softmax_over_right(dot(energy, b.param("attention_v", {size, 1})));
  const Expr attended = mix(weights, context);

  const Expr output = tanh(dot(s, b.param("output_W", {size, size})) + attended);
  b.output("logits", dot_transposed(output, embedding));
  b.output("alignment", weights);
  return b.take();
}
