#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "decoding/lines/batching.h"
#include "fuselage/base/error.h"

namespace fuselage {

/// Threads that process batches of items and hand the results on one by one in the order of the
/// items, whatever the composition and order of completion of the batches. A batch is formed when a
/// thread is idle. A batch that memory is short for is divided, unless batches depend on their
/// lines alone. An error takes the place of the results of its batch: all results before it are
/// handed on, then it ends all work.
template <typename Item, typename Result>
class OrderedWorkers {
 public:
  /// Returns the results of a batch's items, in their order.
  using Work = std::function<std::vector<Result>(std::vector<Item>&)>;
  /// Called from one thread at a time. Items are numbered from 0.
  using Sink = std::function<void(std::size_t number, Result&& result)>;

  /// Starts a thread per element of `work`. Throws Error when the system cannot start the threads.
  OrderedWorkers(std::vector<Work> work, Sink sink, BatchFormer former)
      : sink_(std::move(sink)), former_(std::move(former)) {
    try {
      for (Work& one : work) threads_.emplace_back([this, run = std::move(one)] { serve(run); });
    } catch (const std::system_error& error) {
      stop();
      throw Error(fmt::format("cannot start {} threads: {}; use fewer threads", work.size(),
                              error.code().message()));
    } catch (...) {
      stop();
      throw;
    }
  }

  ~OrderedWorkers() { stop(); }
  OrderedWorkers(const OrderedWorkers&) = delete;
  OrderedWorkers& operator=(const OrderedWorkers&) = delete;

  /// Waits until there is room, then adds the next item, of `length` words. Throws the error that
  /// ended all work, if any.
  void add(Item item, std::size_t length) {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return failure_ || slots_.empty() || has_room(length); });
    if (failure_) std::rethrow_exception(failure_);
    former_.add(first_number_ + slots_.size(), length, Clock::now());
    slots_.push_back({.item = std::move(item), .length = length});
    words_ahead_ += length;
    arrived_.notify_all();
  }

  /// Adds an error in place of the next item.
  void fail(const std::exception_ptr& error) {
    std::unique_lock lock(mutex_);
    slots_.push_back({.error = error});
    hand_on(lock);
  }

  /// The input pauses: items no longer wait for further items.
  void pause() {
    const std::lock_guard lock(mutex_);
    former_.pause();
    arrived_.notify_all();
  }

  /// Throws the error that ended all work, if any.
  void rethrow_failure() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Ends the input and waits until all results have been handed on. Throws the error that ended
  /// all work, if any.
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
    std::vector<std::size_t> lengths;
    for (const std::size_t number : numbers) {
      items.push_back(std::move(slot(number).item));
      lengths.push_back(slot(number).length);
    }
    lock.unlock();
    std::vector<Result> results;
    std::exception_ptr error;
    try {
      results = results_of(work, std::move(items), lengths);
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

  /// Runs a batch, or, if memory is short for it, parts of half its size or less.
  std::vector<Result> results_of(const Work& work, std::vector<Item> items,
                                 std::span<const std::size_t> lengths) const {
    BatchTuner* const tuner = former_.tuner();
    std::vector<Result> results;
    std::size_t most = items.size();
    while (results.size() < items.size()) {
      const auto own =
          lengths.subspan(results.size(), std::min(most, items.size() - results.size()));
      const auto begin = items.begin() + static_cast<std::ptrdiff_t>(results.size());
      const auto end = begin + std::ssize(own);
      std::vector<Item> batch(std::make_move_iterator(begin), std::make_move_iterator(end));
      const BatchTuner::Size size{.sentences = own.size(), .longest = std::ranges::max(own)};
      try {
        for (Result& result : timed(work, batch, own)) results.push_back(std::move(result));
      } catch (const OutOfMemory&) {
        if (!tuner || own.size() < 2) throw;
        tuner->out_of_memory(size);
        most = (own.size() + 1) / 2;
        std::move(batch.begin(), batch.end(), begin);
      }
    }
    return results;
  }

  /// Runs a batch and tells the tuner how long it takes.
  std::vector<Result> timed(const Work& work, std::vector<Item>& batch,
                            std::span<const std::size_t> lengths) const {
    const auto start = Clock::now();
    std::vector<Result> results = work(batch);
    check(results.size() == batch.size(), "a result for each item");
    if (BatchTuner* const tuner = former_.tuner())
      tuner->ran({.sentences = lengths.size(), .longest = std::ranges::max(lengths)},
                 std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}),
                 std::chrono::duration<double>(Clock::now() - start).count());
    return results;
  }

  Slot& slot(std::size_t number) { return slots_[number - first_number_]; }

  /// Hands on the ready results at the front. If another thread is doing so, leaves them to it.
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
  std::condition_variable arrived_;  ///< idle threads wait for items or the end of work
  std::condition_variable done_;     ///< add() and finish() wait for results
  std::deque<Slot> slots_;           ///< items without a handed-on result, by number
  std::size_t first_number_ = 0;     ///< number of the first slot's item
  std::size_t words_ahead_ = 0;      ///< words of the items in the slots
  bool handing_on_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

}  // namespace fuselage
