#pragma once

#include <string>
#include <vector>

#include "fuselage/models/architectures/parameters.h"
#include "fuselage/ops/builder.h"
#include "models/architectures/marian_options.h"

namespace fuselage {

/// The domains and maps of a source text.
struct SourceDomains {
  DomainId vocabulary;
  DomainId source;      ///< a row per source token, including the end symbol
  DomainId hypothesis;  ///< hypothesis × source, for attention
  MapId word;           ///< source token → its word
};

/// The domains and maps of every encoder-decoder and language model, declared on a builder's graph.
struct Seq2SeqDomains {
  std::vector<SourceDomains> texts;
  DomainId target_vocabulary;  ///< that of the source when both sides share embeddings
  DomainId sentence;
  DomainId parent;      ///< a row per surviving hypothesis of the last step
  DomainId hypothesis;  ///< a row per live hypothesis
  MapId last_word;      ///< hypothesis → its last word; undefined at the first step
};

/// Declares them, with one source text for each of these vocabularies, which may be the same.
Seq2SeqDomains declare_seq2seq(Graph& graph, const std::vector<DomainId>& source_vocabularies,
                               DomainId target_vocabulary);

/// Embeddings of both sides and the output matrix, under Marian's names, which depend on its tying
/// options.
class Vocabularies {
 public:
  /// Declares the domains on the builder of `parameters`. `encoders` has the prefix of the encoder
  /// of each source text; encoders with the same prefix share their parameters. `output_prefix` is
  /// the name of an untied output matrix, without "_W" or "_Wt".
  Vocabularies(Parameters& parameters, const MarianOptions& options,
               const std::vector<std::string>& encoders, std::string output_prefix);

  const Seq2SeqDomains& domains() const { return domains_; }

  /// Embedding of each token of a source text: source f32[dim-emb].
  Expr source_embedding(std::size_t text);
  /// Embedding of the last word of each hypothesis, zeros at the first step: hypothesis
  /// f32[dim-emb].
  Expr target_embedding();
  /// Scores of all target words: `state` times the output matrix, plus the bias.
  Expr logits(Expr state);

 private:
  Parameters& parameters_;
  const MarianOptions& options_;
  std::string output_prefix_;
  std::vector<std::string> source_tables_;
  std::string target_table_;
  Seq2SeqDomains domains_;
};

/// `name` for the first of several domains or values of a kind, `name`2 for the second and so on.
std::string numbered(const std::string& name, std::size_t index);

}  // namespace fuselage
