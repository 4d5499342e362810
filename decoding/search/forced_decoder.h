#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuselage/backends/executable.h"

namespace fuselage {

/// A model's scores of a given translation.
struct ForcedScores {
  std::vector<float> word_scores;  ///< log-probability of each word, including the end symbol
  /// Weight of each source word for each target word; empty unless requested.
  std::vector<std::vector<float>> alignment;
};

/// Runs a model on given translations (teacher forcing), with the same steps as a search, so that
/// both give the same numbers.
class ForcedDecoder {
 public:
  /// `executable` has the outputs of SearchHead::log_probabilities; `device` is one of its devices.
  ForcedDecoder(const Executable& executable, bool alignment, std::size_t device = 0);

  /// Scores a batch of pairs, each text with the end symbol last. Throws Error when a score is not
  /// a number.
  std::vector<ForcedScores> score(std::span<const WordIds> sources,
                                  std::span<const WordIds> targets) {
    return score(Batch{.sentences = sources}, targets);
  }
  /// The same for a model with several source texts, which Batch::inputs name.
  std::vector<ForcedScores> score(const Batch& sources, std::span<const WordIds> targets);

 private:
  void run_step(std::span<const WordIds> targets, std::size_t t);
  void read_step(std::span<const WordIds> sources, std::span<const WordIds> targets, std::size_t t,
                 std::vector<ForcedScores>& results) const;

  bool alignment_;
  std::unique_ptr<Worker> worker_;
  std::size_t log_probs_, alignment_output_ = 0;
  std::vector<std::int32_t> live_;  ///< sentences with a word at this step
  std::vector<std::int32_t> row_;   ///< row of each sentence in the last step
  std::vector<std::int32_t> parents_, parent_, words_, positions_;
};

}  // namespace fuselage
