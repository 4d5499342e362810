#pragma once

#include <string>

#include "fuselage/models/architectures/model_options.h"
#include "fuselage/models/architectures/parameters.h"
#include "models/architectures/seq2seq.h"

namespace fuselage {

/// The vector that stands for the embedding of the last word at the first step: the row of the word
/// `decoder_start_token_id` in the table of the decoder.
inline constexpr const char* kDecoderStart = "decoder_start_embedding";

/// A number of layers, heads or dimensions: an option from 1 to `most`. Throws Error, with the name
/// and the value, for others.
std::int64_t size_option(const ModelOptions& options, const std::string& name,
                         std::int64_t fallback, std::int64_t most = 1'000'000);

/// The most layers or heads of a model.
inline constexpr std::int64_t kMostLayers = 1'000;

/// The embeddings of both sides and the output matrix of a checkpoint of Hugging Face's
/// Transformers, which stores a table once that several of these share: shared.weight,
/// encoder.embed_tokens.weight, decoder.embed_tokens.weight and lm_head.weight.
class EmbeddingTables {
 public:
  /// `prefix` is that of all names but lm_head.weight: "model." or "". Numbers of words count for
  /// random parameters.
  EmbeddingTables(Parameters& parameters, const std::string& prefix, std::int64_t source_words,
                  std::int64_t target_words);

  /// Declares the domains of the model on the builder of the parameters.
  const Seq2SeqDomains& declare();

  /// source f32[width]: the embedding of each token.
  Expr source_embedding(std::int64_t width);
  /// hypothesis f32[width]: that of the last word, or kDecoderStart at the first step.
  Expr target_embedding(std::int64_t width);
  /// `state` times the output matrix.
  Expr logits(Expr state);

 private:
  Parameters& p_;
  std::string source_, target_, output_;  ///< names of parameters
  std::int64_t source_words_, target_words_;
  Seq2SeqDomains d_;
};

}  // namespace fuselage
