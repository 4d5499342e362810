#include "models/architectures/seq2seq.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage {

std::string numbered(const std::string& name, std::size_t index) {
  return index == 0 ? name : fmt::format("{}{}", name, index + 1);
}

Seq2SeqDomains declare_seq2seq(Graph& graph, const std::vector<DomainId>& source_vocabularies,
                               DomainId target_vocabulary) {
  Seq2SeqDomains d;
  for (const DomainId vocabulary : source_vocabularies)
    d.texts.push_back({.vocabulary = vocabulary});
  d.target_vocabulary = target_vocabulary;
  d.sentence = graph.add_sentences("sentence");
  for (std::size_t i = 0; i < d.texts.size(); ++i)
    d.texts[i].source = graph.add_source(numbered("source", i), d.sentence);
  d.parent = graph.add_parents("parent", d.sentence);
  d.hypothesis = graph.add_hypotheses("hyp", d.parent);
  for (std::size_t i = 0; i < d.texts.size(); ++i) {
    SourceDomains& text = d.texts[i];
    text.hypothesis = graph.add_pairs(numbered("hyp_source", i), d.hypothesis, text.source);
    text.word =
        graph.add_word_map(numbered("source", i) + ".word", text.source, text.vocabulary, false);
  }
  d.last_word = graph.add_word_map("hyp.word", d.hypothesis, d.target_vocabulary, true);
  return d;
}

Vocabularies::Vocabularies(Parameters& parameters, const MarianOptions& options,
                           const std::vector<std::string>& encoders, std::string output_prefix)
    : parameters_(parameters), options_(options), output_prefix_(std::move(output_prefix)) {
  const bool shared = options.tied_embeddings_all || options.tied_embeddings_src;
  for (const std::string& encoder : encoders)
    source_tables_.push_back(shared ? "Wemb" : encoder + "_Wemb");
  target_table_ = shared ? "Wemb" : "decoder_Wemb";

  const auto rows_of = [&](const std::string& table, std::size_t vocabulary) {
    const std::vector<std::int64_t>& sizes = options.dim_vocabs;
    return parameters.rows(table,
                           sizes.empty() ? 0 : sizes[std::min(vocabulary, sizes.size() - 1)]);
  };
  Graph& graph = parameters.builder().graph();
  std::vector<DomainId> sources;
  for (std::size_t i = 0; i < encoders.size(); ++i) {
    // The domain of texts before that have the same table.
    const auto same = std::find(source_tables_.begin(), source_tables_.end(), source_tables_[i]);
    const auto first = static_cast<std::size_t>(same - source_tables_.begin());
    sources.push_back(
        first < i ? sources[first]
                  : graph.add_vocabulary(shared ? "vocabulary" : numbered("source_vocabulary", i),
                                         rows_of(source_tables_[i], i)));
  }
  const char* const name = encoders.empty() ? "vocabulary" : "target_vocabulary";
  const DomainId target =
      shared && !encoders.empty()
          ? sources.front()
          : graph.add_vocabulary(name, rows_of(target_table_, options.dim_vocabs.size() - 1));
  domains_ = declare_seq2seq(graph, sources, target);
}

Expr Vocabularies::source_embedding(std::size_t text) {
  const SourceDomains& d = domains_.texts[text];
  const Expr table = parameters_.table(source_tables_[text], d.vocabulary, options_.dim_emb);
  return select_rows(table, {d.word}).named(numbered("source_embedding", text));
}

Expr Vocabularies::target_embedding() {
  const Expr table = parameters_.table(target_table_, domains_.target_vocabulary, options_.dim_emb);
  return select_rows(table, {domains_.last_word}).named("target_embedding");
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
