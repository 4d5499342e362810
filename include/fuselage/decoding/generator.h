#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/compile_options.h"
#include "fuselage/base/api.h"
#include "fuselage/base/log.h"
#include "fuselage/decoding/batch_options.h"
#include "fuselage/decoding/generation.h"
#include "fuselage/decoding/model_handle.h"
#include "fuselage/decoding/sampling.h"
#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// The largest GeneratorOptions::max_new_tokens.
inline constexpr std::int32_t kMaxNewTokens = 1 << 20;

/// Settings of a generator, named as TranslatorOptions. Members that are unset have the model's own
/// values (Model::decode); where the model states none, the values in the comments.
struct GeneratorOptions {
  /// Hypotheses per prompt, 1 to 1024; 1: greedy. With sampling, samples, as in TranslatorOptions.
  std::optional<std::int32_t> beam_size = {};
  /// Maximum number of words after the prompt, the end symbol included; 1 to kMaxNewTokens.
  std::int32_t max_new_tokens = 256;
  /// Words of every continuation, the end symbol not counted, unless max_new_tokens is lower; 0 to
  /// kMaxMinLength.
  std::optional<std::int32_t> min_length = {};
  /// Measures against repetitions (Repetition); the words of a prompt count; 1 and 0.
  std::optional<float> repetition_penalty = {};
  std::optional<std::int32_t> no_repeat_ngram_size = {};
  std::optional<float> normalize = {};     ///< a score is divided by length^normalize; 0
  std::optional<float> word_penalty = {};  ///< subtracted from the score per word; 0
  /// Maximum number of words of a prompt, with one for the end symbol; 1000.
  std::optional<std::size_t> max_length = {};
  std::optional<bool> allow_unk = {};     ///< the unknown word may be produced; false
  bool allow_special = false;             ///< control characters of SentencePiece may be produced
  bool include_prompt = false;            ///< the text of a continuation begins with the prompt
  bool strict = false;                    ///< invalid and too long lines are errors
  std::optional<Sampling> sampling = {};  ///< words are drawn, as in TranslatorOptions
  std::uint64_t seed = 0;                 ///< as in TranslatorOptions
  std::size_t threads = 1;                ///< as in TranslatorOptions
  BatchOptions batches = {};
  VocabularyPairOptions vocabularies = {};  ///< paths: the vocabulary, once or twice
  std::string frequency = {};   ///< path of a frequency list (see add_word_ranks); empty: none
  CompileOptions compile = {};  ///< Generator fills in ranks and workload
  Log log = {};                 ///< as in TranslatorOptions
};

/// Continues texts with a language model: a model whose graph has no source domain. The words of a
/// prompt run through the model one by one, as the words of a translation do. In the first step the
/// last word is unmapped, so the partial word map of the hypotheses gives the model's default row;
/// an empty prompt therefore begins a text. A continuation ends with the end symbol of the
/// vocabulary or after max_new_tokens words. Its scores are those of the words after the prompt.
///
/// All members may be called from several threads at the same time; the calls share the weights. A
/// continuation depends neither on other prompts nor on the batch size nor on the number of
/// threads.
class Generator : public ModelHandle<GeneratorOptions> {
 public:
  /// Receives the continuations of a prompt, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, Generation&& generation)>;

  /// Waits for more input up to a timeout; false if there is none yet.
  using InputReady = std::function<bool(std::chrono::milliseconds)>;

  /// Throws Error for options out of range, for a model that reads a source text or from right to
  /// left, and for a vocabulary that does not match the model.
  explicit Generator(Model model, GeneratorOptions options = {});

  /// The same for the model at `path`; throws also the errors of load_model.
  explicit Generator(const std::string& path, GeneratorOptions options = {});

  /// The continuations of one line.
  Generation generate(std::string_view prompt) const;

  /// The continuations of each line.
  std::vector<Generation> generate(const std::vector<std::string>& prompts) const;
  std::vector<Generation> generate(std::initializer_list<std::string> prompts) const;

  /// Gives the continuations of each line of the stream, as Translator::translate does.
  void generate(std::istream& input, const Sink& sink, const InputReady& ready = nullptr) const;

 private:
  class Impl;
  const Impl& impl() const;
};

}  // namespace fuselage
