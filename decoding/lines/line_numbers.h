#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "fuselage/decoding/line_guide.h"

namespace fuselage {

/// The numbers that guides give lines, which are read in other threads than their translations
/// come in.
class LineNumbers {
 public:
  void add(const LineGuide& guide) {
    const std::lock_guard lock(mutex_);
    numbers_.push_back(guide.number);
  }

  /// The number of the next line, the `count`th, which is in the place of a missing one.
  std::size_t take(std::size_t count) {
    const std::lock_guard lock(mutex_);
    const std::size_t number = numbers_.front().value_or(count);
    numbers_.pop_front();
    return number;
  }

 private:
  std::mutex mutex_;
  std::deque<std::optional<std::size_t>> numbers_;
};

}  // namespace fuselage
