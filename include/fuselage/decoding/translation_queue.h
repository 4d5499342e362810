#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/line_guide.h"
#include "fuselage/decoding/translation.h"

namespace FUSELAGE_API fuselage {

class Translator;

/// The Error of a line whose translation was cancelled.
class Cancelled : public Error {
 public:
  using Error::Error;
};

/// The Error of a line that was not translated before its deadline.
class DeadlinePassed : public Error {
 public:
  using Error::Error;
};

/// The Error of try_submit() for a line that finds no room to wait.
class QueueFull : public Error {
 public:
  using Error::Error;
};

/// When places that got free are given to sentences that wait, which are encoded together then.
enum class Refill {
  at_once,
  half_empty,  ///< when half of the places are free, as in Amun (Hoang et al. 2018, "Fast neural
               ///< machine translation implementation")
  by_cost,     ///< when the shares of the free places in the fixed cost of steps are as much as the
               ///< fixed cost of encoding, by a clock, at the latest when half are free
};

struct QueueOptions {
  /// Sentences that a thread translates at a time, 1 to 4096; 0: as many as are fastest on the
  /// back-end.
  std::size_t places = 0;
  std::size_t max_waiting = 1024;  ///< lines that may wait; at least 1
  Refill refill = Refill::by_cost;
};

/// Figures of a queue since it was made.
struct QueueFigures {
  std::size_t waiting = 0;       ///< lines, now
  std::size_t translating = 0;   ///< lines, now
  std::size_t threads = 0;       ///< that translate
  std::size_t places = 0;        ///< of all threads
  std::uint64_t translated = 0;  ///< lines
  std::uint64_t steps = 0;       ///< of all threads
  /// Sum over the steps of the sentences that took part; divided by steps × the places of a thread
  /// it is the occupancy.
  std::uint64_t sentence_steps = 0;
};

/// Translates lines that arrive at any time, from any threads: each begins when a place is free
/// (Refill), in the order of arrival, and takes part in the steps of those that are under way:
/// top-up batching, also known as iteration-level scheduling (Yu et al. 2022, "Orca: a distributed
/// serving system for transformer-based generative models", section 3). A translation has the same
/// bytes as Translator::translate gives.
///
/// A sentence begins only if its longest possible search fits its thread's memory, so those that
/// run never wait for one another, and none is computed twice. A sentence larger than that memory
/// begins when its thread has ended all others, with a larger one. So a line waits for the lines
/// before it only.
///
/// Where there are no places, as for samples and for shortlists on a GPU, lines that wait form a
/// batch when a thread is idle.
class TranslationQueue {
 public:
  /// Receives a translation, or the error in place of it: called once for each line, from a thread
  /// of the queue, or from submit() for an empty line and from cancel() for one that waits. Must
  /// not throw, and must not wait for the queue.
  using Done = std::function<void(Translation&& translation, std::exception_ptr error)>;

  struct Options {
    LineGuide guide = {};
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
  };

  /// A line that was submitted.
  class Ticket {
   public:
    Ticket() = default;

   private:
    friend class TranslationQueue;
    std::weak_ptr<struct QueuedLine> line_;
  };

  /// Starts TranslatorOptions::threads threads. The translator must outlive the queue. Throws Error
  /// for options out of range.
  explicit TranslationQueue(const Translator& translator, QueueOptions options = {});
  /// Cancels all lines.
  ~TranslationQueue();
  TranslationQueue(const TranslationQueue&) = delete;
  TranslationQueue& operator=(const TranslationQueue&) = delete;

  /// Adds a line; waits while max_waiting lines wait. Throws Error for a line that
  /// Translator::translate refuses.
  Ticket submit(std::string_view line, Done done, const Options& options);
  Ticket submit(std::string_view line, Done done) { return submit(line, std::move(done), {}); }
  std::future<Translation> submit(std::string_view line, const Options& options);
  std::future<Translation> submit(std::string_view line) { return submit(line, Options{}); }

  /// The same, but throws QueueFull in place of waiting.
  Ticket try_submit(std::string_view line, Done done, const Options& options);

  /// Cancels a line, also while it is translated; does nothing if it is done. `done` gets the error
  /// Cancelled.
  void cancel(const Ticket& ticket);

  /// Waits until all lines are done.
  void drain();

  QueueFigures figures() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuselage
