#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/backends/backend.h"

namespace fuselage {

/// Chooses the bounds of batches by memory and by measured throughput. Thread-safe; the calls of a
/// Translator share one.
///
/// While BatchBounds::grows_to allows it, batches of the present bounds alternate with trials of
/// twice their size. Each trial is compared with the batches before and after it in its window,
/// since lines are sorted by length and short ones take another time per word. The bounds double
/// while that gains at least kGain. A batch that memory is short for ends the trials and, if it is
/// none, lowers the bounds for good.
class BatchTuner {
 public:
  /// Trials of each worker that are not counted: memory grows in the first, and a GPU's steps are
  /// recorded.
  static constexpr std::size_t kWarmUp = 2;
  /// Trials whose median decides.
  static constexpr std::size_t kTrials = 3;
  /// The least gain in words a second for twice the size.
  static constexpr double kGain = 1.03;
  /// Trials wait until so many of them fit in the lines of a window.
  static constexpr std::size_t kTrialsWaiting = 4;

  explicit BatchTuner(const BatchBounds& bounds, std::size_t workers = 1);

  /// The bounds of the next batch, for a window with `lines` lines left.
  BatchBounds next(std::size_t lines);

  /// A batch of lines.
  struct Size {
    std::size_t sentences;
    std::size_t longest;  ///< words of the longest line

    std::size_t padded_words() const { return sentences * longest; }
  };

  /// A batch of `words` words without padding took `seconds`.
  void ran(const Size& size, std::size_t words, double seconds);

  /// Memory was short for a batch.
  void out_of_memory(const Size& size);

  /// Notes for the user on lowered bounds, since the last call.
  std::vector<std::string> take_notes();

  /// The present bounds, without trials.
  BatchBounds bounds() const;

 private:
  double filled_sentences(const Size& size) const;
  double filled_words(const Size& size) const;
  double filled(const Size& size) const;
  void compare(double rate);
  void decide();
  void restart();

  const std::size_t warm_up_;
  mutable std::mutex mutex_;
  BatchBounds bounds_;
  std::size_t lines_ = 0;  ///< of the last call of next()
  bool tries_next_ = false;
  std::optional<double> before_;  ///< words a second of the last batch of the present bounds
  std::vector<double> trials_;    ///< words a second of trials since then
  std::vector<double> gains_;     ///< gains of all trials of these bounds
  bool is_lowered_ = false;       ///< since take_notes()
};

}  // namespace fuselage
