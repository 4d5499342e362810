#include "decoding/queue/waiting_lines.h"

#include <algorithm>

namespace fuselage {

bool WaitingLines::add(std::shared_ptr<QueuedLine> line, bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) room_.wait(lock, [this] { return closed_ || lines_.size() < most_; });
  if (closed_ || lines_.size() >= most_) return false;
  if (line->deadline) first_deadline_ = std::min(first_deadline_, *line->deadline);
  lines_.push_back(std::move(line));
  arrived_.notify_one();
  return true;
}

bool WaitingLines::remove(const std::shared_ptr<QueuedLine>& line) {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(lines_, line);
  if (at == lines_.end()) return false;
  lines_.erase(at);
  room_.notify_all();
  return true;
}

QueuedLines WaitingLines::take(std::size_t most, bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) arrived_.wait(lock, [this] { return closed_ || !lines_.empty(); });
  if (closed_ || lines_.empty()) return {};
  const std::size_t share = (lines_.size() + threads_ - 1) / threads_;
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, share));
  QueuedLines lines(lines_.begin(), lines_.begin() + count);
  lines_.erase(lines_.begin(), lines_.begin() + count);
  taken_ += lines.size();
  room_.notify_all();
  return lines;
}

QueuedLines WaitingLines::take_expired(std::chrono::steady_clock::time_point now) {
  const std::lock_guard lock(mutex_);
  QueuedLines expired;
  if (now <= first_deadline_) return expired;
  first_deadline_ = kNever;
  std::erase_if(lines_, [&](const std::shared_ptr<QueuedLine>& line) {
    const auto deadline = line->deadline.value_or(kNever);
    if (deadline < now)
      expired.push_back(line);
    else
      first_deadline_ = std::min(first_deadline_, deadline);
    return deadline < now;
  });
  taken_ += expired.size();
  if (!expired.empty()) room_.notify_all();
  return expired;
}

void WaitingLines::put_back(QueuedLines lines) {
  const std::lock_guard lock(mutex_);
  for (const auto& line : lines)
    if (line->deadline) first_deadline_ = std::min(first_deadline_, *line->deadline);
  taken_ -= lines.size();
  lines_.insert(lines_.begin(), lines.begin(), lines.end());
  arrived_.notify_all();
}

void WaitingLines::finished(std::size_t count) {
  const std::lock_guard lock(mutex_);
  taken_ -= count;
  if (taken_ == 0 && lines_.empty()) room_.notify_all();
}

void WaitingLines::drain() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return closed_ || (lines_.empty() && taken_ == 0); });
}

QueuedLines WaitingLines::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  QueuedLines lines(lines_.begin(), lines_.end());
  lines_.clear();
  arrived_.notify_all();
  room_.notify_all();
  return lines;
}

bool WaitingLines::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t WaitingLines::waiting() const {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

std::size_t WaitingLines::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

}  // namespace fuselage
