#include <string>

#include "fuselage/ops/builder.h"

using namespace fuselage;

// A classifier and a tagger on one encoder: a loop in each direction over the words of a text. The
// outputs belong to the text ("class") and to its words ("tags"); there is no decoder.
Graph sequence_labels(std::int64_t words, std::int64_t size, std::int64_t classes,
                      std::int64_t tags) {
  Builder b("sequence_labels");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", words);
  const DomainId text = g.add_sentences("text");
  const DomainId token = g.add_source("token", text);
  const MapId word = g.add_word_map("token.word", token, vocabulary, /*partial=*/false);

  const Expr x = select_rows(b.param("E", {size}, vocabulary), {word});
  const auto read = [&](const std::string& name, bool reversed) {
    const DomainId loop = g.add_scan(name, token, reversed);
    const Expr state = b.state(b.constant(0, {size}), loop);
    const Expr in = dot(broadcast(x, loop), b.param(name + "_W", {size, size}));
    const Expr next = tanh(in + dot(state, b.param(name + "_U", {size, size})));
    b.next(state, next);
    return collect(next);
  };
  const Expr states = concat({read("forward", false), read("backward", true)});
  const Expr summary = concat({max_rows(states), mean_rows(states)});
  b.output("class", softmax(dot(summary, b.param("class_W", {4 * size, classes}))));
  b.output("tags", softmax(dot(states, b.param("tag_W", {2 * size, tags}))));
  return b.take();
}
