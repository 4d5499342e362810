#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "decoding/queue/queue_thread.h"
#include "decoding/queue/waiting_lines.h"
#include "decoding/translator_impl.h"

namespace fuselage {

/// The threads of a translator, each with its searches, and the lines that wait for them.
class LineQueue {
 public:
  struct Size {
    std::size_t places;       ///< of each thread; 0: as many as are fastest
    std::size_t max_waiting;  ///< lines; 0: as many as there are places
    Refill refill = Refill::by_cost;
  };

  /// Starts TranslatorOptions::threads threads. Throws Error if the system cannot.
  LineQueue(const Translator::Impl& translator, Size size);
  /// Cancels all lines.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  /// Adds a line, none that is empty; with `wait`, when there is room. False: there is none.
  bool add(const std::shared_ptr<QueuedLine>& line, bool wait) { return waiting_.add(line, wait); }
  void cancel(const std::shared_ptr<QueuedLine>& line);
  void drain() { waiting_.drain(); }
  QueueFigures figures() const;

 private:
  void start(BeamSearch& search, QueueThread::Size size);
  void stop();

  SearchPool::Lease lease_;
  LineSearches searches_;
  std::size_t places_;  ///< of each thread
  WaitingLines waiting_;
  QueueCounts counts_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage
