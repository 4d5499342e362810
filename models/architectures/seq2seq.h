#pragma once

#include <string>

#include "models/architectures/marian_options.h"
#include "models/architectures/parameters.h"
#include "ops/builder.h"

namespace fuselage {

/// The rows that every encoder-decoder model has, declared on a builder's graph.
struct Seq2SeqDomains {
  DomainId source_vocabulary, target_vocabulary;  ///< the same when both sides share embeddings
  DomainId sentence;
  DomainId source;             ///< a row per source token, the end symbol included
  DomainId parent;             ///< a row per surviving hypothesis of the last step
  DomainId hypothesis;         ///< a row per live hypothesis
  DomainId hypothesis_source;  ///< hypothesis × source, for attention
  MapId source_word;           ///< source token → its word
  MapId last_word;  ///< hypothesis → the word that it just took; none at the first step
};

/// Embeddings of both sides and the output matrix, under the names that Marian gives them by its
/// tying options.
class Vocabularies {
 public:
  /// Declares the domains on the builder of `parameters`. `output_prefix` is the name of an output
  /// matrix of its own, without "_W" or "_Wt".
  Vocabularies(Parameters& parameters, const MarianOptions& options, std::string output_prefix);

  const Seq2SeqDomains& domains() const { return domains_; }

  /// Embedding of each source token: source f32[dim-emb].
  Expr source_embedding();
  /// Embedding of the word that each hypothesis just took, zeros before the first: hypothesis
  /// f32[dim-emb].
  Expr target_embedding();
  /// Scores of all target words: `state` times the output matrix, plus its bias.
  Expr logits(Expr state);

 private:
  Parameters& parameters_;
  const MarianOptions& options_;
  std::string output_prefix_;
  std::string source_table_, target_table_;
  Seq2SeqDomains domains_;
};

}  // namespace fuselage
