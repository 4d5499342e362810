#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "decoding/queue/queued_line.h"

namespace fuselage {

/// The lines that wait, first come, first served, and the number of those that are translated.
/// Thread-safe.
class WaitingLines {
 public:
  /// `threads` take lines.
  WaitingLines(std::size_t most, std::size_t threads) : most_(most), threads_(threads) {}

  /// Adds a line; with `wait`, when there is room. False: there is none, or the queue is closed.
  bool add(std::shared_ptr<QueuedLine> line, bool wait);
  /// Removes a line that waits; false: it does not.
  bool remove(const std::shared_ptr<QueuedLine>& line);

  /// Lines for a thread that has room for `most`: its share of those that wait, so that no other
  /// thread lacks lines for it. With `wait`, waits for one; empty then: the queue is closed.
  QueuedLines take(std::size_t most, bool wait);
  /// Returns lines that found no room, the first ones to come again.
  void put_back(QueuedLines lines);
  /// Removes the lines whose deadline has passed, as if they were taken.
  QueuedLines take_expired(std::chrono::steady_clock::time_point now);
  /// Lines that were taken are done.
  void finished(std::size_t count);

  /// Waits until no line waits or is translated.
  void drain();
  /// Ends all waiting; the lines that still wait.
  QueuedLines close();
  bool is_closed() const;

  std::size_t waiting() const;
  std::size_t taken() const;

 private:
  static constexpr auto kNever = std::chrono::steady_clock::time_point::max();

  std::size_t most_, threads_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;  ///< threads wait for lines
  std::condition_variable room_;     ///< add() waits for room, drain() for the end
  std::deque<std::shared_ptr<QueuedLine>> lines_;
  std::chrono::steady_clock::time_point first_deadline_ = kNever;  ///< or an earlier time
  std::size_t taken_ = 0;
  bool closed_ = false;
};

}  // namespace fuselage
