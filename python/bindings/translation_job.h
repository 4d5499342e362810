#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fuselage/decoding/line_guide.h"
#include "fuselage/decoding/translator.h"
#include "python/bindings/process.h"

/// A call of Translator::translate on a thread of its own, which never runs Python code: lines are
/// put in, and translations are taken out in their order.
class TranslationJob {
 public:
  struct Line {
    std::string text;
    fuselage::LineGuide guide;
  };

  /// The translator must outlive the job.
  explicit TranslationJob(const fuselage::Translator& translator);
  ~TranslationJob() { close(); }
  TranslationJob(const TranslationJob&) = delete;
  TranslationJob& operator=(const TranslationJob&) = delete;

  void add(Line line);
  /// There are no more lines.
  void end();
  void cancel();
  /// Cancels the call and waits for the batches that are under way. Not in another process.
  void close();

  /// Whether few lines and translations wait.
  bool has_room() const;

  /// Waits until there is a translation to take, or the call has ended, or if `for_room` until
  /// has_room(). False after the timeout.
  bool wait(std::chrono::milliseconds timeout, bool for_room) const;

  /// All translations that are ready. If there are none, throws the error that ended the call.
  std::vector<fuselage::Translation> take();

  /// All translations have been taken, and the call has ended without an error.
  bool is_finished() const;

 private:
  void run(const fuselage::Translator& translator);
  bool next_line(std::string& text, fuselage::LineGuide& guide);
  bool has_line_within(std::chrono::milliseconds timeout);
  void put(fuselage::Translation&& translation);
  bool is_roomy() const;
  /// Throws Error in another process than that of the call.
  std::unique_lock<std::mutex> lock() const;

  const Process process_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;  // for the owner of the job
  std::condition_variable arrived_;          // for the call
  std::deque<Line> lines_;
  std::vector<fuselage::Translation> ready_;
  std::exception_ptr error_;
  bool ended_ = false;      // the lines
  bool cancelled_ = false;  // the call
  bool returned_ = false;
  std::thread thread_;
};
