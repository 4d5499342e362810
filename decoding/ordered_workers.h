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

namespace fuselage {

/// Threads that work on batches of numbered items, and hand the results on one by one in the order
/// of the numbers, however the batches mix and finish. An error takes the place of the results that
/// it prevented: all results before it are handed on, then it ends everything.
template <typename Item, typename Result>
class OrderedWorkers {
 public:
  /// Results of the items, in their order.
  using Work = std::function<std::vector<Result>(std::vector<Item>&)>;
  /// Called from one thread at a time.
  using Sink = std::function<void(std::size_t number, Result&& result)>;

  /// One thread per element of `work`. At most about `look_ahead` items wait or are worked on.
  /// Throws Error when the system does not give so many threads.
  OrderedWorkers(std::vector<Work> work, Sink sink, std::size_t look_ahead)
      : sink_(std::move(sink)), look_ahead_(look_ahead) {
    try {
      for (Work& one : work) threads_.emplace_back([this, run = std::move(one)] { serve(run); });
    } catch (const std::system_error& error) {
      stop();
      throw Error("cannot start {} threads: {}; use fewer --cpu-threads", work.size(),
                  error.code().message());
    } catch (...) {
      stop();
      throw;
    }
  }

  ~OrderedWorkers() { stop(); }
  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  /// Waits until there is room, then gives out the next `count` numbers and returns the first.
  /// Throws the error that ended everything, if one did.
  std::size_t open(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return failure_ || slots_.empty() || slots_.size() + count <= look_ahead_; });
    if (failure_) std::rethrow_exception(failure_);
    const std::size_t first = first_number_ + slots_.size();
    slots_.resize(slots_.size() + count);
    return first;
  }

  /// Gives a batch to the workers.
  void submit(std::vector<std::size_t> numbers, std::vector<Item> items) {
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back({std::move(numbers), std::move(items)});
    }
    changed_.notify_all();
  }

  /// Gives the error that stands in the place of an item.
  void fail(std::size_t number, const std::exception_ptr& error) {
    std::unique_lock lock(mutex_);
    if (Slot* slot = find(number)) slot->error = error;
    hand_on(lock);
  }

  /// True when no batch waits for a worker. Throws the error that ended everything, if one did.
  bool idle() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    return batches_.empty();
  }

  /// Waits until all results have been handed on. Throws the error that ended everything, if one
  /// did.
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || (slots_.empty() && !handing_on_); });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Slot {
    bool ready = false;
    Result result{};
    std::exception_ptr error;
  };
  struct Batch {
    std::vector<std::size_t> numbers;
    std::vector<Item> items;
  };

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void serve(const Work& work) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || failure_ || !batches_.empty(); });
      if (stopping_ || failure_) return;
      Batch batch = std::move(batches_.front());
      batches_.pop_front();
      lock.unlock();
      std::vector<Result> results;
      std::exception_ptr error;
      try {
        results = work(batch.items);
        check(results.size() == batch.numbers.size(), "a result for each item");
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      for (std::size_t i = 0; i < batch.numbers.size(); ++i) {
        if (!error)
          fill(batch.numbers[i], std::move(results[i]));
        else if (Slot* slot = find(batch.numbers[i]))
          slot->error = error;
      }
      hand_on(lock);
    }
  }

  Slot* find(std::size_t number) {
    const std::size_t at = number - first_number_;
    return at < slots_.size() ? &slots_[at] : nullptr;
  }

  void fill(std::size_t number, Result result) {
    Slot* slot = find(number);
    if (!slot) return;
    slot->result = std::move(result);
    slot->ready = true;
  }

  /// Hands on what is ready at the front, unless another thread is at it, which then does.
  void hand_on(std::unique_lock<std::mutex>& lock) {
    if (handing_on_ || failure_) return;
    handing_on_ = true;
    while (!failure_ && !stopping_ && !slots_.empty()) {
      Slot& front = slots_.front();
      if (front.error) failure_ = front.error;
      if (failure_ || !front.ready) break;
      Result result = std::move(front.result);
      const std::size_t number = first_number_++;
      slots_.pop_front();
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
    changed_.notify_all();
  }

  Sink sink_;
  std::size_t look_ahead_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_;  ///< of the items that have not been handed on, by number
  std::size_t first_number_ = 0;
  std::deque<Batch> batches_;
  bool handing_on_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage
