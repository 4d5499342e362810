#include "decoding/queue/ordered_results.h"

#include <utility>

namespace fuselage {

std::size_t OrderedResults::begin_line() {
  std::unique_lock lock(mutex_);
  handed_on_.wait(lock, [this] { return failure_ || results_.size() < ahead_; });
  if (failure_) std::rethrow_exception(failure_);
  results_.emplace_back();
  return first_ + results_.size() - 1;
}

void OrderedResults::drop_last_line() {
  const std::lock_guard lock(mutex_);
  results_.pop_back();
}

void OrderedResults::put(std::size_t number, Translation&& translation,
                         const std::exception_ptr& error) {
  std::unique_lock lock(mutex_);
  if (failure_) return;
  results_[number - first_] = Result{std::move(translation), error};
  hand_on(lock);
}

/// Hands on the ready results at the front. If another thread is doing so, leaves them to it.
void OrderedResults::hand_on(std::unique_lock<std::mutex>& lock) {
  if (handing_on_) return;
  handing_on_ = true;
  while (!failure_ && !results_.empty() && results_.front()) {
    Result result = std::move(*results_.front());
    const std::size_t number = first_;
    std::exception_ptr error = result.error;
    if (!error) {
      lock.unlock();
      try {
        sink_(number, std::move(result.translation));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
    }
    if (error) {
      failure_ = error;
      break;
    }
    results_.pop_front();
    ++first_;
  }
  handing_on_ = false;
  handed_on_.notify_all();
}

void OrderedResults::rethrow_failure() {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

void OrderedResults::finish() {
  std::unique_lock lock(mutex_);
  handed_on_.wait(lock, [this] { return failure_ || (results_.empty() && !handing_on_); });
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace fuselage
