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
#include "fuselage/base/shortlist_options.h"
#include "fuselage/decoding/batch_options.h"
#include "fuselage/decoding/line_guide.h"
#include "fuselage/decoding/model_handle.h"
#include "fuselage/decoding/sampling.h"
#include "fuselage/decoding/translation.h"
#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// The largest TranslatorOptions::max_words.
inline constexpr std::int32_t kMaxWords = 65536;

/// Settings of a translator, named as marian-decoder's options. Members that are unset have the
/// model's own values (Model::decode and Model::shortlist); where the model states none, the values
/// in the comments, which are marian-decoder's.
struct TranslatorOptions {
  /// Hypotheses per sentence, 1 to 1024; 12. With sampling, samples that are drawn of a sentence,
  /// each with a beam of 1; 1 unless it is set, whatever the model states.
  std::optional<std::int32_t> beam_size = {};
  std::optional<float> normalize = {};     ///< a score is divided by length^normalize; 0
  std::optional<float> word_penalty = {};  ///< subtracted from the score per word; 0
  /// Times the logarithms of how well each source token is covered, added to the score
  /// (SearchOptions::coverage_penalty); needs a model with alignments. Not negative.
  float coverage_penalty = 0;
  std::optional<float> max_length_factor = {};  ///< maximum number of words per source word; 3
  /// Maximum number of words of a translation, a prefix not counted, in place of max_length_factor;
  /// 0 to kMaxWords, 0: by the factor; where max_length_factor is set and this is not, by the
  /// factor.
  std::optional<std::int32_t> max_words = {};
  /// Maximum number of words of a line, including the end symbol; 1000.
  std::optional<std::size_t> max_length = {};
  std::optional<bool> allow_unk = {};  ///< the unknown word may be produced; false
  /// Unknown words are replaced by the source word that they are aligned with, or its translation;
  /// then allow_unk is true. Needs a model with alignments.
  bool replace_unknowns = false;
  /// Path of a file with a source word, a tab and its translation on each line; empty: none.
  std::string dictionary = {};
  bool allow_special = false;  ///< control characters of SentencePiece may be produced
  /// Hypotheses of a translation, the best ones, 1 to beam_size; 0: all that the search finds. The
  /// search ends as soon as these are found.
  std::int32_t n_best = 0;
  /// Words of every translation, the end symbol and a prefix not counted, unless its length limit
  /// is lower; 0 to kMaxMinLength; 0.
  std::optional<std::int32_t> min_length = {};
  /// Measures against repetitions (Repetition), which need scores that are normalized; 1 and 0.
  std::optional<float> repetition_penalty = {};
  std::optional<std::int32_t> no_repeat_ngram_size = {};
  /// A beam of 2 or more keeps its width (SearchOptions::keep_beam), and with one of 1 a penalty of
  /// repetitions is for logits, as in Transformers; false.
  std::optional<bool> keep_beam = {};
  std::optional<EarlyStopping> early_stopping = {};  ///< with keep_beam; never
  /// The last word at the length limit is the end symbol (SearchOptions::forced_end); false.
  std::optional<bool> forced_end = {};
  /// Log-probabilities are normalized over the words that can be produced
  /// (SearchHeadOptions::renormalize), unless skip_cost is set; false.
  std::optional<bool> renormalize = {};
  /// Codes of languages, for a model that translates between several (TextFormat); empty: those of
  /// the model.
  std::string source_language = {}, target_language = {};
  /// Words in whose place parts of a line that the vocabulary cannot write come through the
  /// translation as they are (TextFormat::placeholders); empty: none.
  std::optional<std::vector<std::string>> placeholders = {};
  bool skip_cost = false;     ///< scores are logits, which is faster; needs a beam size of 1
  bool alignment = false;     ///< hypotheses have their alignment
  bool model_scores = false;  ///< hypotheses of an ensemble have each model's log-probability
  bool strict = false;        ///< invalid and too long lines are errors
  /// Lines may have a guide (LineGuide). On a GPU the search then runs on the host.
  bool guided = false;
  /// A line has a further field, behind a tab, with the prefix of its translation.
  bool force_decode = false;
  /// A line has, behind tabs, a further field for each term of its translation; "|||" separates the
  /// forms of a term.
  bool constraints = false;
  /// Path of a file with a source term and forms of its translation on each line, separated by
  /// tabs: lines with the source term have the term in their guides. Empty: none.
  std::string terminology = {};
  std::optional<ShortlistOptions> shortlist = {};  ///< with an empty path: no shortlist
  /// Words are drawn in place of a search for the best ones; not with skip_cost.
  std::optional<Sampling> sampling = {};
  /// Of sampling. A call numbers its lines from 0; the samples of line i follow from seed + i, the
  /// line and the options alone, so they are those of line 0 with that seed.
  std::uint64_t seed = 0;
  /// Number of threads that translate batches, for each GPU if there are several; 0: one for each
  /// processor that the process may use, divided by CompileOptions::threads_per_sentence, and for a
  /// GPU Executable::fastest_workers().
  std::size_t threads = 1;
  BatchOptions batches = {};
  VocabularyPairOptions vocabularies = {};
  std::string frequency = {};   ///< path of a frequency list (see add_word_ranks); empty: none
  CompileOptions compile = {};  ///< Translator fills in ranks and workload
  /// Receives all notes(), and at the end of each call notes on its lines, one at a time.
  Log log = {};
};

/// Translates lines of text. All members may be called from several threads at the same time; the
/// calls share the weights, and each has its own search. A translation depends neither on other
/// lines nor on the batch size nor on the number of threads, except with
/// ShortlistOptions::union_of_batch.
class Translator : public ModelHandle<TranslatorOptions> {
 public:
  /// Receives the translation of a line, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, Translation&& translation)>;

  /// Waits for more input up to a timeout; false if there is none yet.
  using InputReady = std::function<bool(std::chrono::milliseconds)>;

  /// Throws Error for options out of range, for options that contradict each other or the model,
  /// and for vocabularies that do not match the model.
  explicit Translator(Model model, TranslatorOptions options = {});

  /// The same for the model at `path`; throws also the errors of load_model.
  explicit Translator(const std::string& path, TranslatorOptions options = {});

  /// The translation of one line. Throws Error for a guide without TranslatorOptions::guided.
  Translation translate(std::string_view line, const LineGuide& guide = {}) const;

  /// One translation per line.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;
  std::vector<Translation> translate(std::initializer_list<std::string> lines) const;

  /// The same with a guide for each line. Throws Error for another number of guides.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     const std::vector<LineGuide>& guides) const;

  /// Sets the next line and its guide, which is empty before; false at the end.
  using Lines = std::function<bool(std::string& line, LineGuide& guide)>;

  /// Gives one translation per line, as for a stream. `lines` is called by the calling thread.
  void translate(const Lines& lines, const Sink& sink, const InputReady& ready = nullptr) const;

  /// Gives one translation per line of the stream, as soon as it is ready. While a thread is idle,
  /// a line waits at most 10 ms for other lines of its batch; with `ready`, lines do not wait while
  /// the input pauses. Throws errors, including those of `sink`, after all earlier lines have been
  /// handed over; while the input pauses, only with `ready`.
  void translate(std::istream& input, const Sink& sink, const InputReady& ready = nullptr) const;

  /// The word or piece with an id of the target vocabulary (Hypothesis::words); empty for no word.
  std::string target_word(std::int32_t id) const;

  /// The number of tokens of a line, however long, with the end symbol and words for languages.
  /// Throws Error for a model with several source texts or factors.
  std::size_t count_tokens(std::string_view line) const;

  /// The places of the tokens of a line and of a hypothesis of its translation, with the guide that
  /// it was translated with. Throws Error for a model with several source texts or factors.
  TokenSpans token_spans(std::string_view line, const TranslatedText& translation,
                         const LineGuide& guide = {}) const;

  /// The graph that runs, before the optimizer: the model's, with the outputs of the search.
  /// trace() with options().compile shows what became of it.
  const Graph& graph() const;

  /// The code of the language that the options or else the model state for source texts; empty:
  /// none.
  const std::string& source_language() const;

  class Impl;  ///< within the library, shared with TranslationQueue

 private:
  friend class TranslationQueue;

  const Impl& impl() const;
};

}  // namespace fuselage
