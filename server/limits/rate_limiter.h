#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace fuselage {

/// Requests of each client a minute, by token buckets: a client may use the requests of a minute at
/// once, and gets them back evenly. Thread-safe.
class RateLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Counts a request of a client that may make so many a minute; 0: any number. The result is how
  /// long the client has to wait; 0: the request is within the limit.
  std::chrono::duration<double> count(const std::string& client, std::size_t per_minute,
                                      Clock::time_point now = Clock::now());

 private:
  struct Bucket {
    double tokens;
    Clock::time_point filled;
  };

  /// Forgets clients whose buckets are full again.
  void forget(Clock::time_point now);

  std::mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_;
  std::size_t forget_at_ = 1024;
};

}  // namespace fuselage
