#pragma once

#include <csignal>
#include <functional>
#include <map>
#include <thread>

namespace fuselage {

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process after `finish` has run, with the exit
/// status of the signal. Signals that the process ignores or handles otherwise stay as they are.
/// There is at most one at a time.
class BeforeSignal {
 public:
  /// `finish` runs on a thread of its own. If it takes longer than 10 seconds, the process ends
  /// without waiting for it. Throws Error when the system gives no thread or pipe.
  explicit BeforeSignal(std::function<void()> finish);
  ~BeforeSignal();
  BeforeSignal(const BeforeSignal&) = delete;
  BeforeSignal& operator=(const BeforeSignal&) = delete;

 private:
  void wait() const;
  void restore() const;

  std::function<void()> finish_;
  std::map<int, struct sigaction> before_;  ///< by signal
  std::thread waiting_;
};

}  // namespace fuselage
