#include "server/limits/rate_limiter.h"

#include <algorithm>

namespace fuselage {

std::chrono::duration<double> RateLimiter::count(const std::string& client, std::size_t per_minute,
                                                 Clock::time_point now) {
  using Seconds = std::chrono::duration<double>;
  if (per_minute == 0) return Seconds(0);
  const auto most = static_cast<double>(per_minute);
  const double per_second = most / 60;
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= forget_at_) forget(now);
  Bucket& bucket = buckets_.try_emplace(client, Bucket{most, now}).first->second;
  const Seconds passed = now - bucket.filled;
  bucket.tokens = std::min(most, bucket.tokens + passed.count() * per_second);
  bucket.filled = now;
  if (bucket.tokens < 1) return Seconds((1 - bucket.tokens) / per_second);
  bucket.tokens -= 1;
  return Seconds(0);
}

void RateLimiter::forget(Clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    return now - entry.second.filled > std::chrono::minutes(1);
  });
  forget_at_ = std::max<std::size_t>(1024, 2 * buckets_.size());
}

}  // namespace fuselage
