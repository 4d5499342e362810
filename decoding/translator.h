#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "decoding/batch_pipeline.h"
#include "decoding/batching.h"
#include "decoding/line_encoder.h"
#include "decoding/vocabulary_pair.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/models/model.h"
#include "text/shortlist.h"

namespace fuselage {

/// Settings of a translator. The defaults are marian-decoder's.
struct TranslatorOptions {
  CompileOptions compile;  ///< Translator fills in ranks and workload
  SearchOptions search;    ///< Translator fills in end_id and suppressed from the vocabulary
  VocabularyPairOptions vocabularies;
  ShortlistOptions shortlist;
  std::string frequency;  ///< path of a frequency list (see add_word_ranks); empty: none
  BatchOptions batches;
  std::size_t max_length = 1000;  ///< maximum number of words of a line, including the end symbol
  std::size_t threads = 1;        ///< number of threads that translate batches
  bool allow_unk = false;         ///< the unknown word may be produced
  bool allow_special = false;     ///< control characters of SentencePiece may be produced
  bool skip_cost = false;         ///< scores are logits, which is faster; needs a beam size of 1
  bool strict = false;            ///< invalid and too long lines are errors
};

/// A translation as text, and the hypothesis that it was decoded from.
struct TranslatedText {
  std::string text;  ///< always one line
  Hypothesis hypothesis;
};

/// The translation of a line.
struct Translation {
  std::vector<TranslatedText> n_best;  ///< best first; never empty
  std::vector<LineOddity> oddities;
  std::size_t source_words = 0;  ///< including the end symbol
  std::size_t source_bytes = 0;  ///< including the line break
};

/// Translates lines of text. All members may be called from several threads, which share the
/// weights. A translation depends neither on other lines nor on the batch size nor on the number of
/// threads, except with ShortlistOptions::union_of_batch.
class Translator {
 public:
  /// Receives the translation of a line, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, Translation&& translation)>;

  /// Throws Error for options that contradict each other or the model, and for vocabularies that
  /// do not match the model.
  Translator(Model model, TranslatorOptions options);
  ~Translator();

  /// One translation per line.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;

  /// Gives one translation per line of the stream, as soon as it is ready. While a thread is idle,
  /// a line waits at most BatchFormer::kMaxWait for other lines of its batch; with `ready`, lines
  /// do not wait while the input pauses. Throws errors, including those of `sink`, after all
  /// earlier lines have been handed over; while the input pauses, only with `ready`.
  void translate(std::istream& input, const Sink& sink, const InputReady& ready = nullptr) const;

  /// Notes for the user from loading vocabularies and weights.
  const std::vector<std::string>& notes() const { return vocabularies_.notes; }

  /// Memory use up to now.
  MemoryUse memory() const { return executable_->memory(); }

  /// Look-ups in tables of frequent rows up to now.
  std::vector<TableUse> table_use() const { return executable_->table_use(); }

 private:
  class Lease;
  using LineSource = std::function<bool(std::string& line)>;

  void run(const LineSource& next_line, const Sink& sink, const InputReady& ready) const;
  void load_shortlist(std::int64_t words);
  BatchBounds fastest_batches() const;
  std::vector<WordIds> shortlists_for(std::span<const WordIds> sentences) const;
  std::vector<Translation> translate_batch(BeamSearch& search,
                                           std::vector<EncodedLine>& batch) const;
  Translation empty_translation(const EncodedLine& line) const;
  Translation make_translation(const EncodedLine& line, NBest hypotheses) const;

  TranslatorOptions options_;
  bool right_left_;
  VocabularyPair vocabularies_;
  std::unique_ptr<const LineEncoder> encoder_;
  std::unique_ptr<const Shortlist> shortlist_;  ///< null: no shortlist
  std::unique_ptr<const Executable> executable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<BeamSearch>> idle_;
};

}  // namespace fuselage
