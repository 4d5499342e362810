#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "decoding/batching.h"
#include "decoding/forced_decoder.h"
#include "decoding/line_encoder.h"
#include "decoding/vocabulary_pair.h"
#include "fuselage/backends/compile.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// Settings of a scorer. The defaults are the defaults of marian-scorer on a CPU.
struct ScorerOptions {
  CompileOptions compile;  ///< Scorer fills in ranks and workload
  VocabularyPairOptions vocabularies;
  std::string frequency;  ///< path of a frequency list (see add_word_ranks); empty: none
  BatchOptions batches;
  std::size_t max_length = 1000;  ///< maximum number of words of a line, including the end symbol
  std::size_t threads = 1;
  float normalize = 0;     ///< a score is divided by the length to the power of this
  float word_penalty = 0;  ///< subtracted from the score per word
  bool alignment = false;
  bool strict = false;  ///< invalid and too long lines are errors
};

/// The score of a pair of lines.
struct PairScore {
  std::vector<float> word_scores;  ///< log-probability of each target word, end symbol included
  float log_probability = 0;       ///< sum of the word scores
  float score = 0;                 ///< with word penalty and length normalization
  std::vector<std::vector<float>> alignment;
  std::vector<LineOddity> source_oddities, target_oddities;
  std::size_t source_words = 0;  ///< including the end symbol
  std::size_t source_bytes = 0;  ///< including the line break
};

/// Scores given translations. For the output of a Translator, a Scorer gives the same scores.
class Scorer {
 public:
  /// Receives the score of a pair of lines, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, PairScore&& score)>;

  /// Throws Error as Translator does.
  Scorer(Model model, ScorerOptions options);

  /// Gives one score per pair of lines. Throws Error when one stream has fewer lines than the
  /// other, after the scores of all pairs have been handed over.
  void score(std::istream& sources, std::istream& targets, const Sink& sink) const;

  /// Notes for the user from loading vocabularies and weights.
  const std::vector<std::string>& notes() const { return vocabularies_.notes; }

  /// Memory use up to now.
  MemoryUse memory() const { return executable_->memory(); }

  /// Look-ups in tables of frequent rows up to now.
  std::vector<TableUse> table_use() const { return executable_->table_use(); }

 private:
  struct Pair {
    EncodedLine source, target;
  };

  std::vector<PairScore> score_batch(ForcedDecoder& decoder, std::vector<Pair>& batch) const;
  PairScore make_score(const Pair& pair, ForcedScores scores) const;

  ScorerOptions options_;
  bool right_left_;
  VocabularyPair vocabularies_;
  std::unique_ptr<const LineEncoder> source_encoder_, target_encoder_;
  BatchBounds fastest_{};
  std::unique_ptr<const Executable> executable_;
};

}  // namespace fuselage
