#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/executable.h"

namespace fuselage {

/// What a model thinks of a given translation.
struct ForcedScores {
  std::vector<float> word_scores;  ///< log-probability of each word, the end symbol included
  /// Weight of each source word for each target word; empty unless asked for.
  std::vector<std::vector<float>> alignment;
};

/// Leads a model through given translations (teacher forcing), with the same steps that a search
/// takes, so that both report the same numbers.
class ForcedDecoder {
 public:
  /// `executable` has the outputs of SearchHead::log_probabilities.
  ForcedDecoder(const Executable& executable, bool alignment);

  /// Scores a batch of pairs, whose last words are the end symbols. Throws Error when a score is
  /// not a number.
  std::vector<ForcedScores> score(std::span<const WordIds> sources,
                                  std::span<const WordIds> targets);

 private:
  void run_step(std::span<const WordIds> targets, std::size_t t);
  void read_step(std::span<const WordIds> sources, std::span<const WordIds> targets, std::size_t t,
                 std::vector<ForcedScores>& results) const;

  bool alignment_;
  std::unique_ptr<Worker> worker_;
  std::size_t log_probs_, alignment_output_ = 0;
  std::vector<std::int32_t> live_;  ///< sentences that have a word at this step
  std::vector<std::int32_t> row_;   ///< of each sentence in the last step
  std::vector<std::int32_t> parents_, parent_, words_, positions_;
};

}  // namespace fuselage
