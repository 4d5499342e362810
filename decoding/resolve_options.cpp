#include "decoding/resolve_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/machine/cores.h"
#include "fuselage/backends/backend.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "models/decode_keys.h"

namespace fuselage {
namespace {

constexpr std::size_t kMaxLength = 1000;
/// Maximum of a number of threads that is not given.
constexpr std::size_t kMaxThreads = 1024;

/// The number of processors divided by the threads per sentence. For a GPU it stays 0, until its
/// executable is there.
std::size_t default_threads(const CompileOptions& compile) {
  if (find_backend(compile.backend).capabilities().needs_gpu) return 0;
  const std::size_t together = std::max<std::size_t>(1, compile.threads_per_sentence);
  return std::clamp(useful_threads() / together, std::size_t{1}, kMaxThreads);
}

/// The members that both kinds of options have.
template <typename Options>
DecodeDefaults stated_by(const Options& options) {
  return {.normalize = options.normalize,
          .word_penalty = options.word_penalty,
          .max_length = options.max_length,
          .mini_batch = options.batches.mini_batch,
          .mini_batch_words = options.batches.mini_batch_words,
          .maxi_batch = options.batches.maxi_batch,
          .maxi_batch_sort = options.batches.maxi_batch_sort,
          .precision = options.compile.precision,
          .activations = options.compile.activations,
          .kv_cache = options.compile.kv_cache};
}

/// Sets the members of stated_by to their values.
template <typename Options>
void set_common(Options& options, const DecodeDefaults& values) {
  const SearchOptions marian;
  options.normalize = values.normalize.value_or(marian.normalize);
  options.word_penalty = values.word_penalty.value_or(marian.word_penalty);
  options.max_length = values.max_length.value_or(kMaxLength);
  options.batches = {.mini_batch = values.mini_batch,
                     .mini_batch_words = values.mini_batch_words,
                     .maxi_batch = values.maxi_batch,
                     .maxi_batch_sort = values.maxi_batch_sort};
  options.compile.precision = values.precision.value_or(Precision::fp32);
  options.compile.activations = values.activations.value_or(Activations::exact);
  options.compile.kv_cache = values.kv_cache.value_or(KvCache::fp32);
  if (options.threads == 0) options.threads = default_threads(options.compile);
}

/// The members that options of a search have besides.
template <typename Options>
DecodeDefaults stated_for_search(const Options& options) {
  verify(repetition_of(options));
  DecodeDefaults stated = stated_by(options);
  stated.beam_size = options.beam_size;
  stated.allow_unk = options.allow_unk;
  stated.min_length = options.min_length;
  stated.repetition_penalty = options.repetition_penalty;
  stated.no_repeat_ngram_size = options.no_repeat_ngram_size;
  return stated;
}

/// Sets the members of stated_for_search to their values, but for the beam.
template <typename Options>
void set_for_search(Options& options, const DecodeDefaults& values) {
  options.min_length = values.min_length.value_or(0);
  options.repetition_penalty = values.repetition_penalty.value_or(1.0f);
  options.no_repeat_ngram_size = values.no_repeat_ngram_size.value_or(0);
  set_common(options, values);
}

DecodeDefaults with_defaults_of(const Model& model, DecodeDefaults stated) {
  verify(stated);
  add_decode_defaults(stated, model.decode);
  return stated;
}

/// The number of samples where words are drawn: as many as are asked for, whatever the model states
/// for a search of the best translation.
template <typename Options>
std::int32_t samples_of(const Options& options) {
  verify(*options.sampling);
  return options.beam_size.value_or(1);
}

/// The placeholders that a model states, which are words of its own vocabularies, in raw text.
std::vector<std::string> placeholders_of(const Model& model, const VocabularyPairOptions& use) {
  if (!use.paths.empty() || !use.sentencepiece_encode || !use.sentencepiece_decode) return {};
  return model.text.placeholders;
}

}  // namespace

TranslatorOptions resolved(TranslatorOptions options, const Model& model) {
  DecodeDefaults stated = stated_for_search(options);
  stated.max_length_factor = options.max_length_factor;
  stated.keep_beam = options.keep_beam;
  stated.early_stopping = options.early_stopping;
  stated.forced_end = options.forced_end;
  stated.renormalize = options.renormalize;
  stated.max_words = options.max_words;
  if (options.max_length_factor && !options.max_words) stated.max_words = 0;
  const DecodeDefaults values = with_defaults_of(model, stated);
  const SearchOptions marian;
  options.beam_size =
      options.sampling ? samples_of(options) : values.beam_size.value_or(marian.beam_size);
  options.max_length_factor = values.max_length_factor.value_or(marian.max_length_factor);
  options.max_words = values.max_words.value_or(0);
  options.keep_beam = values.keep_beam.value_or(false);
  options.early_stopping = values.early_stopping.value_or(EarlyStopping::never);
  options.forced_end = values.forced_end.value_or(false);
  options.renormalize = values.renormalize.value_or(false);
  if (!options.dictionary.empty()) options.replace_unknowns = true;
  options.allow_unk = options.replace_unknowns || values.allow_unk.value_or(false);
  if (options.force_decode || options.constraints || !options.terminology.empty())
    options.guided = true;
  if (!options.shortlist) options.shortlist = model.shortlist;
  if (!options.placeholders) options.placeholders = placeholders_of(model, options.vocabularies);
  set_for_search(options, values);
  return options;
}

GeneratorOptions resolved(GeneratorOptions options, const Model& model) {
  if (options.max_new_tokens < 1 || options.max_new_tokens > kMaxNewTokens)
    throw Error(fmt::format("max-new-tokens must be from 1 to {}, not {}", kMaxNewTokens,
                            options.max_new_tokens));
  const DecodeDefaults values = with_defaults_of(model, stated_for_search(options));
  options.beam_size = options.sampling ? samples_of(options) : values.beam_size.value_or(1);
  options.allow_unk = values.allow_unk.value_or(false);
  set_for_search(options, values);
  return options;
}

ScorerOptions resolved(ScorerOptions options, const Model& model) {
  set_common(options, with_defaults_of(model, stated_by(options)));
  return options;
}

void take_over(const Executable& executable, const CompileOptions& compile, std::size_t& threads,
               std::vector<std::string>& notes) {
  for (const std::string& note : executable.notes()) notes.push_back(note);
  for (const std::string& note : find_backend(compile.backend).notes(compile))
    notes.push_back(note);
  if (threads == 0) threads = executable.fastest_workers();
}

std::size_t workers_of(std::size_t threads, const Executable& executable) {
  return std::max<std::size_t>(1, threads) * executable.devices();
}

}  // namespace fuselage
