#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "decoding/batching.h"
#include "decoding/forced_decoder.h"
#include "decoding/line_encoder.h"
#include "decoding/vocabulary_pair.h"
#include "models/model.h"

namespace fuselage {

/// Settings of a scorer. The defaults are those of marian-scorer where it is run on a CPU.
struct ScorerOptions {
  CompileOptions compile;  ///< ranks and workload are filled in
  VocabularyPairOptions vocabularies;
  std::string frequency;  ///< path of a frequency list (see add_word_ranks); empty: none
  BatchOptions batches;
  std::size_t max_length = 1000;  ///< words that are read of a line, the end symbol counted
  std::size_t threads = 1;
  float normalize = 0;  ///< exponent of the length that a score is divided by
  float word_penalty = 0;
  bool alignment = false;
  bool strict = false;  ///< invalid and too long lines are errors
};

/// The score of a pair of lines.
struct PairScore {
  std::vector<float> word_scores;  ///< log-probability of each target word, the end included
  float log_probability = 0;       ///< their sum
  float score = 0;                 ///< with word penalty and length normalization
  std::vector<std::vector<float>> alignment;
  std::vector<LineOddity> source_oddities, target_oddities;
  std::size_t source_words = 0;  ///< the end symbol counted
  std::size_t source_bytes = 0;  ///< of the line and its end
};

/// Scores given translations. What a Translator reports for its output, a Scorer reports for the
/// same pair.
class Scorer {
 public:
  /// Hands over the score of a pair of lines, numbered from 0, in order and one at a time.
  using Sink = std::function<void(std::size_t line, PairScore&& score)>;

  /// Throws Error as Translator does.
  Scorer(Model model, ScorerOptions options);

  /// One score per line of both streams. Throws Error when one has fewer lines than the other,
  /// after the pairs before have been handed over.
  void score(std::istream& sources, std::istream& targets, const Sink& sink) const;

  /// What a user should know about how vocabularies and weights were loaded.
  const std::vector<std::string>& notes() const { return vocabularies_.notes; }

  /// Where memory went up to now.
  MemoryUse memory() const { return executable_->memory(); }

  /// How well tables of frequent rows have served up to now.
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
