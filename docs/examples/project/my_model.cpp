#include <algorithm>
#include <exception>
#include <iostream>

#include "fuselage/base/error.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/inspect/stages.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/passes/pipeline.h"
#include "my_op.h"

using namespace fuselage;

namespace {

constexpr Capture kX{"x"};

/// A fusion: a product with 2 becomes the scale of the op.
Pass fuse_scale() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), rewriter.add(my::Squash{.scale = 2}, {match[kX]}));
  };
  const auto unscaled = [](const Graph&, const Node& node) {
    return node.as<my::Squash>().scale == 1;
  };
  return {.name = "fuse_scale",
          .rules = {{.name = "squash_scale",
                     .pattern = match::op<op::Mul>(
                                    {match::op<my::Squash>({match::any(kX)}).where(unscaled),
                                     match::number(2)})
                                    .commutative(),
                     .build = build}}};
}

/// An architecture: the next word follows from the text as a bag of words and the last word.
void build_bag_of_words(Parameters& parameters, const ModelOptions& options) {
  Builder& b = parameters.builder();
  Graph& g = b.graph();
  const std::int64_t size = options.integer("size", 4);
  const DomainId words = g.add_vocabulary("words", parameters.rows("embeddings"));
  const DomainId sentence = g.add_sentences("sentence");
  const DomainId source = g.add_source("source", sentence);
  const MapId source_word = g.add_word_map("source.word", source, words, /*partial=*/false);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId last_word = g.add_word_map("hyp.word", hyp, words, /*partial=*/true);

  const Expr embeddings = parameters.table("embeddings", words, size);
  const Expr text = mean_rows(select_rows(embeddings, {source_word}));
  const Expr last = dot(select_rows(embeddings, {last_word}), parameters.matrix("W", size, size));
  const Expr x = b.add(my::Squash{}, {broadcast(text, hyp) + last});
  b.output("logits", dot_transposed(2 * x, embeddings));
}

/// Weights for this example: word i is the unit vector i, and W leads from each word to the next.
TensorMap example_weights() {
  Tensor embeddings(DType::f32, {4, 4}), next(DType::f32, {4, 4});
  for (int i = 0; i < 4; ++i) {
    embeddings.mutable_data<float>()[i * 4 + i] = 1;
    next.mutable_data<float>()[i * 4 + (i + 1) % 4] = 1;
  }
  return {{"embeddings", embeddings}, {"W", next}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) throw Error("usage: my_model vocab.yml");
  my::register_squash();
  register_pass(fuse_scale(), PassPosition::before("fuse_pointwise"), "before chains hide the op");
  register_architecture({.name = "bag_of_words",
                         .summary = "The next word by the text and the last word.",
                         .build = build_bag_of_words});

  Model model = build_model("bag_of_words", {{"size", "4"}}, example_weights());
  model.vocabularies = {argv[1], argv[1]};
  for (const Rewrite& rewrite : trace(model.graph, make_optimizer({})).rewrites)
    if (rewrite.rule == "squash_scale") std::cout << "fused at " << rewrite.where << "\n";

  const Translator translator(model, {.beam_size = 2, .normalize = 1});
  for (const TranslatedText& text : translator.translate("hello").n_best)
    std::cout << text.text << " (" << text.hypothesis.score << ")\n";
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
