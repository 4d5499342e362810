#include "models/architectures/seq2seq.h"

namespace fuselage {

Vocabularies::Vocabularies(Parameters& parameters, const MarianOptions& options,
                           std::string output_prefix)
    : parameters_(parameters), options_(options), output_prefix_(std::move(output_prefix)) {
  const bool shared = options.tied_embeddings_all || options.tied_embeddings_src;
  source_table_ = shared ? "Wemb" : "encoder_Wemb";
  target_table_ = shared ? "Wemb" : "decoder_Wemb";

  Graph& graph = parameters.builder().graph();
  Seq2SeqDomains& d = domains_;
  d.source_vocabulary = graph.add_vocabulary(shared ? "vocabulary" : "source_vocabulary",
                                             parameters.rows(source_table_));
  d.target_vocabulary =
      shared ? d.source_vocabulary
             : graph.add_vocabulary("target_vocabulary", parameters.rows(target_table_));
  d.sentence = graph.add_sentences("sentence");
  d.source = graph.add_source("source", d.sentence);
  d.parent = graph.add_parents("parent", d.sentence);
  d.hypothesis = graph.add_hypotheses("hyp", d.parent);
  d.hypothesis_source = graph.add_pairs("hyp_source", d.hypothesis, d.source);
  d.source_word = graph.add_word_map("source.word", d.source, d.source_vocabulary, false);
  d.last_word = graph.add_word_map("hyp.word", d.hypothesis, d.target_vocabulary, true);
}

Expr Vocabularies::source_embedding() {
  const Expr table = parameters_.table(source_table_, domains_.source_vocabulary, options_.dim_emb);
  return select_rows(table, {domains_.source_word});
}

Expr Vocabularies::target_embedding() {
  const Expr table = parameters_.table(target_table_, domains_.target_vocabulary, options_.dim_emb);
  return select_rows(table, {domains_.last_word});
}

Expr Vocabularies::logits(Expr state) {
  Expr scores;
  const std::int64_t size = parameters_.builder().graph().domain(domains_.target_vocabulary).size;
  if (options_.tied_embeddings || options_.tied_embeddings_all)
    scores = dot_transposed(
        state, parameters_.table(target_table_, domains_.target_vocabulary, options_.dim_emb));
  else if (parameters_.has(output_prefix_ + "_W"))
    scores = dot(state, parameters_.matrix(output_prefix_ + "_W", state.width(), size));
  else
    scores = dot_transposed(
        state, parameters_.transposed_matrix(output_prefix_ + "_Wt", size, state.width()));
  if (options_.output_omit_bias) return scores;
  return scores + parameters_.vector(output_prefix_ + "_b", size);
}

}  // namespace fuselage
