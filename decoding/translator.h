#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "decoding/batch_pipeline.h"
#include "decoding/batching.h"
#include "decoding/beam_search.h"
#include "decoding/line_encoder.h"
#include "decoding/vocabulary_pair.h"
#include "models/model.h"
#include "text/shortlist.h"

namespace fuselage {

/// Settings of a translator. The defaults are those of marian-decoder.
struct TranslatorOptions {
  CompileOptions compile;  ///< ranks and workload are filled in
  SearchOptions search;    ///< end_id and suppressed are filled in from the vocabulary
  VocabularyPairOptions vocabularies;
  ShortlistOptions shortlist;
  std::string frequency;  ///< path of a frequency list (see add_word_ranks); empty: none
  BatchOptions batches;
  std::size_t max_length = 1000;  ///< words that are read of a line, the end symbol counted
  std::size_t threads = 1;        ///< sentences are translated in so many threads
  bool allow_unk = false;         ///< the unknown word may be produced
  bool allow_special = false;     ///< control characters of SentencePiece may be produced
  bool skip_cost = false;         ///< scores are logits, which is faster; needs a beam of 1
  bool strict = false;            ///< invalid and too long lines are errors
};

/// A translation as text and as the words that the text was made from.
struct TranslatedText {
  std::string text;  ///< always one line
  Hypothesis hypothesis;
};

/// What became of a line.
struct Translation {
  std::vector<TranslatedText> n_best;  ///< best first; never empty
  std::vector<LineOddity> oddities;
  std::size_t source_words = 0;  ///< the end symbol counted
  std::size_t source_bytes = 0;  ///< of the line and its end
};

/// Translates lines of text. All members may be called from several threads; the weights are there
/// once. A line's translation depends on no other line, on no batch size and on no number of
/// threads, unless shortlists are those of batches.
class Translator {
 public:
  /// Hands over the translation of a line, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, Translation&& translation)>;

  /// Throws Error for options that contradict each other or the model, and for vocabularies that
  /// do not fit.
  Translator(Model model, TranslatorOptions options);
  ~Translator();

  /// One translation per line.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;

  /// One translation per line of the stream, as soon as they are ready. Lines are translated
  /// together as far as they come together: none waits for others longer than
  /// BatchFormer::kMaxWait while a thread has nothing to do, and with `ready` none waits while the
  /// input pauses. Errors, also those of `sink`, are thrown when all lines before have been handed
  /// over; while the input pauses that is noticed with `ready` only.
  void translate(std::istream& input, const Sink& sink, const InputReady& ready = nullptr) const;

  /// What a user should know about how vocabularies and weights were loaded.
  const std::vector<std::string>& notes() const { return vocabularies_.notes; }

  /// Where memory went up to now.
  MemoryUse memory() const { return executable_->memory(); }

  /// How well tables of frequent rows have served up to now.
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
  std::unique_ptr<const Shortlist> shortlist_;  ///< null: all words are there for all sentences
  std::unique_ptr<const Executable> executable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<BeamSearch>> idle_;
};

}  // namespace fuselage
