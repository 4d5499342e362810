#include <string>

#include "fuselage/ops/builder.h"

using namespace fuselage;

// A language model without attention, after RWKV-4 (Peng et al. 2023, sections 3.1 and 3.2): each
// layer mixes a token with the one before, and keeps weighted sums of all earlier values, with the
// largest exponent apart, so that no exponential overflows.
Graph recurrent_mixing(std::int64_t words, std::int64_t size, int layers) {
  Builder b("recurrent_mixing");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", words);
  const DomainId parent = g.add_parents("parent", g.add_sentences("text"));
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);

  const Expr embedding = b.param("E", {size}, vocabulary);
  Expr x = select_rows(embedding, {last_word});
  for (int layer = 1; layer <= layers; ++layer) {
    const auto weight = [&](const std::string& name, Dims dims) {
      return b.param("l" + std::to_string(layer) + "_" + name, std::move(dims));
    };
    const auto state = [&](double start) { return b.state(b.constant(start, {size}), parent); };
    // The value of the token before, and a mixture with it.
    const auto shifted = [&](Expr y) {
      const Expr last = state(0);
      b.next(last, y);
      return [=](Expr share) { return y * share + broadcast(last, hyp) * (1 - share); };
    };
    const auto mixed = shifted(rms_norm(x, weight("norm1", {size}), 1e-5));
    const Expr k = dot(mixed(weight("mix_k", {size})), weight("Wk", {size, size}));
    const Expr v = dot(mixed(weight("mix_v", {size})), weight("Wv", {size, size}));
    const Expr r = sigmoid(dot(mixed(weight("mix_r", {size})), weight("Wr", {size, size})));

    const Expr sum = state(0), norm = state(0), top = state(-1e30);
    const Expr a = broadcast(sum, hyp), d = broadcast(norm, hyp), p = broadcast(top, hyp);
    const Expr now = k + weight("bonus", {size}), high = max(p, now);
    const Expr old_share = exp(p - high), share = exp(now - high);
    const Expr wkv = (old_share * a + share * v) / (old_share * d + share);
    const Expr decayed = p - exp(weight("decay", {size})), next_top = max(decayed, k);
    const Expr kept = exp(decayed - next_top), added = exp(k - next_top);
    b.next(sum, kept * a + added * v);
    b.next(norm, kept * d + added);
    b.next(top, next_top);
    x = x + dot(r * wkv, weight("Wo", {size, size}));

    const auto channel = shifted(rms_norm(x, weight("norm2", {size}), 1e-5));
    const Expr inner = relu(dot(channel(weight("mix_i", {size})), weight("Wi", {size, 2 * size})));
    const Expr gate = sigmoid(dot(channel(weight("mix_g", {size})), weight("Wg", {size, size})));
    x = x + gate * dot(inner * inner, weight("Wd", {2 * size, size}));
  }
  b.output("logits", dot_transposed(rms_norm(x, b.param("norm", {size}), 1e-5), embedding));
  return b.take();
}
