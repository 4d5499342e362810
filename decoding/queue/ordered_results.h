#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "fuselage/decoding/translator.h"

namespace fuselage {

/// Hands translations that are ready in any order on in the order of their lines, one at a time.
/// The first error, of a line or of the sink, ends it, after all earlier lines.
class OrderedResults {
 public:
  /// At most `ahead` lines begin before the first of them is handed on.
  OrderedResults(Translator::Sink sink, std::size_t ahead)
      : sink_(std::move(sink)), ahead_(ahead) {}

  /// The number of the next line, from 0, when it may begin. Throws the error that ended all.
  std::size_t begin_line();
  /// Takes the last begun line back: there is none.
  void drop_last_line();
  /// The result of a line, or the error in place of it.
  void put(std::size_t number, Translation&& translation, const std::exception_ptr& error);
  /// Throws the error that ended all, if any.
  void rethrow_failure();
  /// Waits until all lines have been handed on. Throws the error that ended all.
  void finish();

 private:
  struct Result {
    Translation translation;
    std::exception_ptr error;
  };

  void hand_on(std::unique_lock<std::mutex>& lock);

  Translator::Sink sink_;
  std::size_t ahead_;
  std::mutex mutex_;
  std::condition_variable handed_on_;
  std::deque<std::optional<Result>> results_;  ///< of lines that have begun, by number
  std::size_t first_ = 0;                      ///< number of the first of them
  bool handing_on_ = false;
  std::exception_ptr failure_;
};

}  // namespace fuselage
