#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "backends/backend.h"
#include "passes/workload.h"

namespace fuselage {

/// How lines are gathered into batches, named as marian-decoder's options. What is not given is
/// chosen for speed.
struct BatchOptions {
  std::size_t mini_batch = 0;          ///< sentences in a batch; 0: not given
  std::size_t mini_batch_words = 0;    ///< words in a batch with padding, in place of sentences
  std::size_t maxi_batch = 0;          ///< batches that are read, and sorted, together
  std::optional<bool> sort_by_length;  ///< the longest first, or in their order
};

/// Bounds of the batches that the options ask for, `fastest` where they ask for none. With
/// `by_content`, what is not given is as in marian-decoder, which has each sentence alone.
BatchBounds batch_bounds(const BatchOptions& given, const BatchBounds& fastest, bool by_content);

/// The profile for which a model is optimized that searches with so many hypotheses of a sentence,
/// in such batches.
Workload expected_workload(std::size_t beam_size, const BatchBounds& batches);

/// Gathers numbered lines and forms a batch when a worker has nothing to do. Lines are sorted
/// within windows, which are worked off one after another. A window is closed when it is full. For
/// a worker that has nothing to do it is closed, too, when the input pauses or ends, or when its
/// first line has waited for `kMaxWait`. Unless sizes are given, batches become smaller when few
/// lines wait, so that each worker gets a part. Knows no clock and no threads.
class BatchFormer {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// No line waits longer for others while a worker has nothing to do.
  static constexpr std::chrono::milliseconds kMaxWait{10};
  /// Words that may wait or be worked on. One line may be longer.
  static constexpr std::size_t kMaxWordsAhead = std::size_t{1} << 20;

  /// Batches have the bounds of batch_bounds(). With `by_content`, they depend on the lines alone:
  /// windows are closed when they are full or the input ends.
  BatchFormer(const BatchOptions& given, const BatchBounds& fastest, std::size_t workers,
              bool by_content = false);

  /// A line of `length` words arrives. Numbers rise.
  void add(std::size_t number, std::size_t length, Time now);

  /// There is nothing to read at the moment. The next line ends the pause.
  void pause() { paused_ = true; }

  /// No line follows.
  void end() { ended_ = true; }

  /// The numbers of the next batch, for a worker that has nothing to do. Empty: there are no lines,
  /// or they wait for others.
  std::vector<std::size_t> take(Time now);

  /// When take() will give a batch even if no line follows; nothing: not before end().
  std::optional<Time> due() const;

  /// So many lines may wait or be worked on.
  std::size_t max_lines_ahead() const { return max_lines_ahead_; }

 private:
  struct Line {
    std::size_t number, length;
  };
  /// Lines in the order in which they are taken, once it is closed.
  using Window = std::deque<Line>;

  void close_window();
  std::size_t next_batch_size() const;

  BatchBounds bounds_{};
  bool sort_by_length_ = true, smaller_for_few_ = true, by_content_;
  std::size_t workers_;
  std::size_t window_lines_ = 0, max_lines_ahead_ = 0;
  Window open_;
  std::deque<Window> closed_;
  std::size_t waiting_words_ = 0, open_words_ = 0;
  Time first_came_;  ///< when the first line of the open window arrived
  bool paused_ = false, ended_ = false;
};

}  // namespace fuselage
