#pragma once

#include <string>

#include "fuselage/models/architectures/parameters.h"
#include "fuselage/ops/builder.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// The domains and maps of every encoder-decoder model, declared on a builder's graph.
struct Seq2SeqDomains {
  DomainId source_vocabulary, target_vocabulary;  ///< the same when both sides share embeddings
  DomainId sentence;
  DomainId source;             ///< a row per source token, including the end symbol
  DomainId parent;             ///< a row per surviving hypothesis of the last step
  DomainId hypothesis;         ///< a row per live hypothesis
  DomainId hypothesis_source;  ///< hypothesis × source, for attention
  MapId source_word;           ///< source token → its word
  MapId last_word;             ///< hypothesis → its last word; undefined at the first step
};

/// Embeddings of both sides and the output matrix, under Marian's names, which depend on its tying
/// options.
class Vocabularies {
 public:
  /// Declares the domains on the builder of `parameters`. `output_prefix` is the name of an untied
  /// output matrix, without "_W" or "_Wt".
  Vocabularies(Parameters& parameters, const MarianOptions& options, std::string output_prefix);

  const Seq2SeqDomains& domains() const { return domains_; }

  /// Embedding of each source token: source f32[dim-emb].
  Expr source_embedding();
  /// Embedding of the last word of each hypothesis, zeros at the first step: hypothesis
  /// f32[dim-emb].
  Expr target_embedding();
  /// Scores of all target words: `state` times the output matrix, plus the bias.
  Expr logits(Expr state);

 private:
  Parameters& parameters_;
  const MarianOptions& options_;
  std::string output_prefix_;
  std::string source_table_, target_table_;
  Seq2SeqDomains domains_;
};

}  // namespace fuselage
