#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "decoding/batching.h"

namespace fuselage {

/// Threads that work on batches of items, and hand the results on one by one in the order of the
/// items, however the batches mix and finish. A batch is formed when a thread has nothing to do. An
/// error takes the place of the results that it prevented: all results before it are handed on,
/// then it ends everything.
template <typename Item, typename Result>
class OrderedWorkers {
 public:
  /// Results of the items, in their order.
  using Work = std::function<std::vector<Result>(std::vector<Item>&)>;
  /// Called from one thread at a time. Items are numbered from 0.
  using Sink = std::function<void(std::size_t number, Result&& result)>;

  /// One thread per element of `work`. Throws Error when the system does not give so many threads.
  OrderedWorkers(std::vector<Work> work, Sink sink, BatchFormer former)
      : sink_(std::move(sink)), former_(std::move(former)) {
    try {
      for (Work& one : work) threads_.emplace_back([this, run = std::move(one)] { serve(run); });
    } catch (const std::system_error& error) {
      stop();
      throw Error("cannot start {} threads: {}; use fewer threads", work.size(),
                  error.code().message());
    } catch (...) {
      stop();
      throw;
    }
  }

  ~OrderedWorkers() { stop(); }
  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  /// Waits until there is room, then takes the next item, which has `length` words. Throws the
  /// error that ended everything, if one did.
  void add(Item item, std::size_t length) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return failure_ || slots_.empty() || has_room(length); });
    if (failure_) std::rethrow_exception(failure_);
    former_.add(first_number_ + slots_.size(), length, Clock::now());
    slots_.push_back({.item = std::move(item), .length = length});
    words_ahead_ += length;
    arrived_.notify_all();
  }

  /// Takes an error in the place of the next item.
  void fail(const std::exception_ptr& error) {
    std::unique_lock lock(mutex_);
    slots_.push_back({.error = error});
    hand_on(lock);
  }

  /// Says that there will be no item for a while, so that no item waits for it.
  void pause() {
    const std::lock_guard lock(mutex_);
    former_.pause();
    arrived_.notify_all();
  }

  /// Throws the error that ended everything, if one did.
  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Says that there are no more items, and waits until all results have been handed on. Throws the
  /// error that ended everything, if one did.
  void finish() {
    std::unique_lock lock(mutex_);
    former_.end();
    arrived_.notify_all();
    done_.wait(lock, [&] { return failure_ || (slots_.empty() && !handing_on_); });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Slot {
    Item item{};
    std::size_t length = 0;
    bool ready = false;
    Result result{};
    std::exception_ptr error = nullptr;
  };

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  bool has_room(std::size_t length) const {
    return slots_.size() < former_.max_lines_ahead() &&
           words_ahead_ + length <= BatchFormer::kMaxWordsAhead;
  }

  void serve(const Work& work) {
    std::unique_lock lock(mutex_);
    while (!stopping_ && !failure_) {
      const std::vector<std::size_t> numbers = former_.take(Clock::now());
      if (numbers.empty())
        wait_for_items(lock);
      else
        run(work, numbers, lock);
    }
  }

  void wait_for_items(std::unique_lock<std::mutex>& lock) {
    if (const auto due = former_.due())
      arrived_.wait_until(lock, *due);
    else
      arrived_.wait(lock);
  }

  void run(const Work& work, const std::vector<std::size_t>& numbers,
           std::unique_lock<std::mutex>& lock) {
    std::vector<Item> items;
    for (const std::size_t number : numbers) items.push_back(std::move(slot(number).item));
    lock.unlock();
    std::vector<Result> results;
    std::exception_ptr error;
    try {
      results = work(items);
      check(results.size() == numbers.size(), "a result for each item");
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Slot& filled = slot(numbers[i]);
      filled.ready = true;
      filled.error = error;
      if (!error) filled.result = std::move(results[i]);
    }
    hand_on(lock);
  }

  Slot& slot(std::size_t number) { return slots_[number - first_number_]; }

  /// Hands on what is ready at the front, unless another thread is at it, which then does.
  void hand_on(std::unique_lock<std::mutex>& lock) {
    if (handing_on_ || failure_) return;
    handing_on_ = true;
    while (!failure_ && !stopping_ && !slots_.empty()) {
      Slot& front = slots_.front();
      if (front.error) failure_ = front.error;
      if (failure_ || !front.ready) break;
      Result result = std::move(front.result);
      words_ahead_ -= front.length;
      slots_.pop_front();
      const std::size_t number = first_number_++;
      lock.unlock();
      std::exception_ptr error;
      try {
        sink_(number, std::move(result));
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) failure_ = error;
    }
    handing_on_ = false;
    if (failure_) arrived_.notify_all();
    done_.notify_all();
  }

  Sink sink_;
  BatchFormer former_;
  std::mutex mutex_;
  std::condition_variable arrived_;  ///< items, or an end: what idle threads wait for
  std::condition_variable done_;     ///< results: what add() and finish() wait for
  std::deque<Slot> slots_;           ///< of the items that have not been handed on, by number
  std::size_t first_number_ = 0;
  std::size_t words_ahead_ = 0;  ///< of the items in the slots
  bool handing_on_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage
