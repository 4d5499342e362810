#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/base/log.h"

namespace fuselage {

/// A log that several threads may write to.
class SharedLog {
 public:
  explicit SharedLog(Log log) : log_(std::move(log)) {}

  /// False: nobody receives the notes.
  bool is_read() const { return static_cast<bool>(log_); }

  void write(const std::vector<std::string>& notes) const {
    if (!log_) return;
    const std::lock_guard lock(mutex_);
    for (const std::string& note : notes) log_(note);
  }

 private:
  Log log_;
  mutable std::mutex mutex_;
};

}  // namespace fuselage
