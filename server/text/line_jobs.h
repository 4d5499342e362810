#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuselage/decoding/translation_queue.h"

namespace fuselage {

/// The client no longer waits for a translation.
class ClientGone : public Error {
 public:
  ClientGone() : Error("the client has gone") {}
};

/// How lines of a request are translated.
struct LineLimits {
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Whether the client still waits; asked at least once a second.
  std::function<bool()> is_wanted = [] { return true; };
  /// Lines of the request that wait or are translated at a time, so that a long text leaves room
  /// for other requests.
  std::size_t at_a_time = 128;
};

/// A line of a request, and demands on its translation.
struct JobLine {
  std::string text;
  LineGuide guide = {};
};

/// The lines of a request on their way through a queue that others use too.
class LineJobs {
 public:
  /// Gets lines as they are done, in any order, on the thread that calls run().
  using Each = std::function<void(std::size_t line, Translation&&)>;

  /// Submits the first lines. Throws QueueFull if the very first finds no room.
  LineJobs(TranslationQueue& queue, std::vector<JobLine> lines, LineLimits limits);
  /// Cancels the lines that are not done.
  ~LineJobs();
  LineJobs(const LineJobs&) = delete;
  LineJobs& operator=(const LineJobs&) = delete;

  /// Translates all lines. Throws DeadlinePassed, ClientGone, the errors of the queue and those of
  /// `each`.
  void run(const Each& each);

 private:
  struct Done;

  bool is_done() const { return tickets_.size() == lines_.size() && under_way_ == 0; }
  /// Adds lines; false: one found no room.
  bool submit_more();
  void take(std::chrono::milliseconds timeout, const Each& each);

  TranslationQueue& queue_;
  std::vector<JobLine> lines_;
  LineLimits limits_;
  std::shared_ptr<Done> done_;
  std::vector<TranslationQueue::Ticket> tickets_;
  std::size_t under_way_ = 0;
};

}  // namespace fuselage
