#include <cmath>
#include <string>
#include <vector>

#include "fuselage/ops/builder.h"
#include "fuselage/ops/structure/leaf.h"

using namespace fuselage;

struct RotarySizes {
  std::int64_t vocabulary, layers, heads, key_heads, width, inner;  // width: of a head
};

// A decoder-only transformer: RMS norms before each part, grouped heads, gated feed-forward layers.
Graph rotary_language_model(const RotarySizes& sizes) {
  Builder b("rotary_language_model");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", sizes.vocabulary);
  const DomainId parent = g.add_parents("parent", g.add_sentences("text"));
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const DomainId prefix = g.add_prefix("prefix", hyp);
  const DomainId pairs = g.add_pairs("pairs", hyp, prefix);
  const MapId last_word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);

  const std::int64_t heads = sizes.heads, key_heads = sizes.key_heads, width = sizes.width;
  const std::int64_t size = heads * width, group = heads / key_heads, inner = sizes.inner;
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(
        std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  // Rotary positions (Su et al. 2021, section 3.4.2).
  const Expr angles = cast(b.position(hyp), DType::f32) *
                      b.add(op::Constant{.values = frequencies, .dims = {width / 2}}, {});
  const Expr cosines = cos(angles), sines = sin(angles);

  const Expr embedding = b.param("E", {size}, vocabulary);
  Expr x = select_rows(embedding, {last_word});
  for (std::int64_t layer = 1; layer <= sizes.layers; ++layer) {
    const auto weight = [&](const char* name, Dims dims) {
      return b.param("l" + std::to_string(layer) + "_" + name, std::move(dims));
    };
    const Expr y = rms_norm(x, weight("norm1", {size}), 1e-6);
    const Expr query = rotary(dot(y, weight("Wq", {size, size})), cosines, sines, heads);
    const Expr key =
        rotary(dot(y, weight("Wk", {size, key_heads * width})), cosines, sines, key_heads);
    const auto past = [&](Expr rows) {  // each key head serves a group of heads
      const Expr shared = expand(reshape(rows, {key_heads, 1, width}), {key_heads, group, width});
      return history(reshape(shared, {size}), prefix);
    };
    const Expr weights =
        softmax_over_right(head_dot(left(query, pairs), right(past(key), pairs), heads,
                                    1 / std::sqrt(static_cast<double>(width))));
    const Expr value = past(dot(y, weight("Wv", {size, key_heads * width})));
    x = x + dot(mix(weights, value), weight("Wo", {size, size}));
    const Expr z = rms_norm(x, weight("norm2", {size}), 1e-6);
    const Expr gate = swish(dot(z, weight("Wg", {size, inner})));
    x = x + dot(gate * dot(z, weight("Wu", {size, inner})), weight("Wd", {inner, size}));
  }
  b.output("logits", dot_transposed(rms_norm(x, b.param("norm", {size}), 1e-6), embedding));
  return b.take();
}
