#pragma once

#include <cstdint>
#include <vector>

namespace fuselage {

/// Scores of finished hypotheses: (path score - word penalty × n) / n^normalize for n words, as in
/// marian-decoder.
class FinalScores {
 public:
  FinalScores(float word_penalty, float normalize)
      : word_penalty_(word_penalty), normalize_(normalize) {}

  float of(float path_score, std::int32_t words) const;

  /// No smaller than the score of any hypothesis of `first` to `last` words that continues one with
  /// this path score by words whose scores are not above 0.
  double bound(float path_score, std::int32_t first, std::int32_t last) const;

 private:
  double exactly(double path_score, double words) const;

  float word_penalty_;
  float normalize_;
};

/// The best scores of finished hypotheses of a sentence.
class BestScores {
 public:
  /// Forgets all scores and keeps the `count` best from now on.
  void reset(std::size_t count);
  void add(float score);
  /// Whether a hypothesis with this score, and any later one, is not among the best.
  bool beats(double score) const { return is_full() && score < scores_.back(); }
  /// Whether a hypothesis with this score would be among the best.
  bool beaten_by(double score) const { return !is_full() || score > scores_.back(); }
  bool is_full() const { return scores_.size() == count_; }

 private:
  std::size_t count_ = 0;
  std::vector<float> scores_;  ///< best first
};

}  // namespace fuselage
