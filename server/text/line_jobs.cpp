#include "server/text/line_jobs.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace fuselage {
namespace {

using std::chrono::milliseconds;

/// How soon the client and the deadline are looked after, and how often at least. The time between
/// doubles: a thousand waiting threads that wake ten times a second take a third of a processor.
constexpr milliseconds kFirstLook{100}, kLastLook{1000};
/// How soon a line is submitted again that found no room.
constexpr milliseconds kRetry{10};

}  // namespace

/// Lines that the queue is done with. They outlive the request, as the queue may still add some.
struct LineJobs::Done {
  struct Line {
    std::size_t number;
    Translation translation;
    std::exception_ptr error;
  };

  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Line> lines;
};

LineJobs::LineJobs(TranslationQueue& queue, std::vector<JobLine> lines, LineLimits limits)
    : queue_(queue),
      lines_(std::move(lines)),
      limits_(std::move(limits)),
      done_(std::make_shared<Done>()) {
  submit_more();
}

LineJobs::~LineJobs() {
  if (under_way_ > 0)
    for (const TranslationQueue::Ticket& ticket : tickets_) queue_.cancel(ticket);
}

bool LineJobs::submit_more() {
  while (tickets_.size() < lines_.size() && under_way_ < limits_.at_a_time) {
    const std::size_t number = tickets_.size();
    const auto done = [number, done = done_](Translation&& translation, std::exception_ptr error) {
      const std::lock_guard lock(done->mutex);
      done->lines.push_back({number, std::move(translation), std::move(error)});
      done->arrived.notify_one();
    };
    try {
      const auto& [text, guide] = lines_[number];
      tickets_.push_back(
          queue_.try_submit(text, done, {.guide = guide, .deadline = limits_.deadline}));
    } catch (const QueueFull&) {
      if (number == 0) throw;
      return false;
    }
    ++under_way_;
  }
  return true;
}

void LineJobs::take(milliseconds timeout, const Each& each) {
  std::deque<Done::Line> lines;
  {
    std::unique_lock lock(done_->mutex);
    done_->arrived.wait_for(lock, timeout, [&] { return !done_->lines.empty(); });
    lines.swap(done_->lines);
  }
  under_way_ -= lines.size();
  for (Done::Line& line : lines) {
    if (line.error) std::rethrow_exception(line.error);
    each(line.number, std::move(line.translation));
  }
}

void LineJobs::run(const Each& each) {
  auto looked = std::chrono::steady_clock::now();
  milliseconds pause = kFirstLook;
  while (!is_done()) {
    take(submit_more() ? pause : kRetry, each);
    const auto now = std::chrono::steady_clock::now();
    if (limits_.deadline && now > *limits_.deadline && !is_done())
      throw DeadlinePassed("the text was not translated in time");
    if (now - looked < pause) continue;
    looked = now;
    pause = std::min(2 * pause, kLastLook);
    if (!limits_.is_wanted()) throw ClientGone();
  }
}

}  // namespace fuselage
