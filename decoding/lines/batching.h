#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "decoding/lines/batch_tuner.h"
#include "fuselage/backends/backend.h"
#include "fuselage/decoding/batch_options.h"
#include "fuselage/passes/workload.h"

namespace fuselage {

/// The bounds of batches that the options state, else `fastest`, which are not exceeded if they are
/// firm. With `by_content`, the options alone decide, and those that are not given have
/// marian-decoder's defaults, batches of one sentence.
BatchBounds batch_bounds(const BatchOptions& given, const BatchBounds& fastest, bool by_content);

/// The workload for which to optimize a model that searches with this beam and these batches.
Workload expected_workload(std::size_t beam_size, const BatchBounds& batches);

/// Gathers numbered lines and forms a batch when a worker is idle. Lines are sorted within windows,
/// which are processed in order. A window is closed when it is full. For an idle worker it is also
/// closed when the input pauses or ends, or when its first line has waited for `kMaxWait`. A
/// window is divided evenly, as small batches are the slowest. Unless sizes are given, batches are
/// smaller when few lines wait, so that each worker gets a share. The class uses neither clocks nor
/// threads.
class BatchFormer {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// Maximum time that a line waits for other lines while a worker is idle.
  static constexpr std::chrono::milliseconds kMaxWait{10};
  /// Maximum number of words that wait or are processed. A single line may be longer.
  static constexpr std::size_t kMaxWordsAhead = std::size_t{1} << 20;

  /// Batches have the bounds of batch_bounds(), or the bounds of a tuner that began with them. With
  /// `by_content`, batches depend on the lines alone: a window is closed only when it is full or
  /// the input ends, and bounds stay.
  BatchFormer(const BatchOptions& given, const BatchBounds& fastest, std::size_t workers,
              bool by_content = false, std::shared_ptr<BatchTuner> tuner = nullptr);

  /// Adds a line of `length` words. Numbers ascend.
  void add(std::size_t number, std::size_t length, Time now);

  /// The input pauses. The next line ends the pause.
  void pause() { paused_ = true; }

  /// No line follows.
  void end() { ended_ = true; }

  /// The line numbers of the next batch, for an idle worker. Empty if there are no lines, or if
  /// they wait for other lines.
  std::vector<std::size_t> take(Time now);

  /// The time when take() gives a batch even if no line follows; nullopt: not before end().
  std::optional<Time> due() const;

  /// The tuner that hears of batches; null: bounds stay, and batches must not be divided.
  BatchTuner* tuner() const { return tuner_.get(); }

  /// Maximum number of lines that wait or are processed.
  std::size_t max_lines_ahead() const { return max_lines_ahead_; }

 private:
  struct Line {
    std::size_t number, length;
  };
  /// Lines; those of a closed window are in the order of taking.
  using Window = std::deque<Line>;

  void close_window();
  std::size_t next_batch_size();

  BatchBounds bounds_{};
  std::shared_ptr<BatchTuner> tuner_;
  bool sort_by_length_ = true, smaller_for_few_ = true, by_content_;
  std::size_t workers_;
  std::size_t window_lines_ = 0, max_lines_ahead_ = 0;
  Window open_;
  std::deque<Window> closed_;
  std::size_t waiting_words_ = 0, open_words_ = 0;
  Time first_came_;  ///< time when the first line of the open window arrived
  bool paused_ = false, ended_ = false;
};

}  // namespace fuselage
