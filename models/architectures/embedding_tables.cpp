#include "models/architectures/embedding_tables.h"

#include <fmt/format.h>

#include <initializer_list>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// The first of these that is stored; of none, the first.
std::string first_stored(const Parameters& parameters, std::initializer_list<std::string> names) {
  for (const std::string& name : names)
    if (parameters.has(name)) return name;
  return *names.begin();
}

}  // namespace

std::int64_t size_option(const ModelOptions& options, const std::string& name,
                         std::int64_t fallback, std::int64_t most) {
  const std::int64_t size = options.integer(name, fallback);
  if (size < 1 || size > most)
    throw Error(fmt::format("{}: option '{}' is {}; it must be a whole number from 1 to {}",
                            options.where(), name, size, most));
  return size;
}

EmbeddingTables::EmbeddingTables(Parameters& parameters, const std::string& prefix,
                                 std::int64_t source_words, std::int64_t target_words)
    : p_(parameters), source_words_(source_words), target_words_(target_words) {
  const std::string shared = prefix + "shared.weight";
  const std::string encoder = prefix + "encoder.embed_tokens.weight";
  const std::string decoder = prefix + "decoder.embed_tokens.weight";
  const std::string output = "lm_head.weight";
  // Of random parameters all are one table.
  if (!parameters.has(shared) && !parameters.has(encoder) && !parameters.has(decoder) &&
      !parameters.has(output)) {
    source_ = target_ = output_ = shared;
    return;
  }
  source_ = first_stored(parameters, {encoder, shared, decoder, output});
  target_ = first_stored(parameters, {decoder, shared, output, encoder});
  output_ = first_stored(parameters, {output, shared, decoder, encoder});
}

const Seq2SeqDomains& EmbeddingTables::declare() {
  Graph& graph = p_.builder().graph();
  const bool shared = source_ == target_;
  const DomainId source = graph.add_vocabulary(shared ? "vocabulary" : "source_vocabulary",
                                               p_.rows(source_, source_words_, "vocab_size"));
  const DomainId target =
      shared ? source
             : graph.add_vocabulary("target_vocabulary",
                                    p_.rows(target_, target_words_, "decoder_vocab_size"));
  d_ = declare_seq2seq(graph, {source}, target);
  return d_;
}

Expr EmbeddingTables::source_embedding(std::int64_t width) {
  const Expr table = p_.table(source_, d_.texts[0].vocabulary, width);
  return select_rows(table, {d_.texts[0].word}).named("source_embedding");
}

Expr EmbeddingTables::target_embedding(std::int64_t width) {
  const Expr table = p_.table(target_, d_.target_vocabulary, width);
  return select_rows(table, {d_.last_word}, p_.default_row(kDecoderStart, width))
      .named("target_embedding");
}

Expr EmbeddingTables::logits(Expr state) {
  return dot_transposed(state, p_.table(output_, d_.target_vocabulary, state.width()));
}

}  // namespace fuselage
