#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "decoding/batching.h"
#include "decoding/ordered_workers.h"

namespace fuselage {

/// Waits up to so long for more input; false when there is none yet. May be empty.
using InputReady = std::function<bool(std::chrono::milliseconds)>;

/// Where items come from and how they are gathered.
template <typename Item>
struct BatchSource {
  /// Reads the next item; false: there are no more. What it throws takes the place of the item.
  std::function<bool(Item&)> next;
  /// Its length, for sorting.
  std::function<std::size_t(const Item&)> length;
  BatchOptions batches;
  InputReady ready = nullptr;
};

/// Waits for input. False when it pauses while the workers have nothing to do, so that what has
/// been read should not wait for more.
template <typename Item, typename Result>
bool wait_for_input(const BatchSource<Item>& source, OrderedWorkers<Item, Result>& workers,
                    bool has_items) {
  constexpr std::chrono::milliseconds kPause{10};
  if (!source.ready) return true;
  while (!source.ready(kPause))
    if (workers.idle() && has_items) return false;
  return true;
}

/// Reads items, gathers them into batches, runs these on the workers and hands the results on in
/// the order in which the items were read. Throws the first error of that order.
template <typename Item, typename Result>
void run_batches(const BatchSource<Item>& source,
                 std::vector<typename OrderedWorkers<Item, Result>::Work> work,
                 typename OrderedWorkers<Item, Result>::Sink sink) {
  /// Batches that a worker may be ahead of the oldest item that is not ready yet.
  constexpr std::size_t kBatchesAhead = 8;
  const std::size_t maxi_lines = source.batches.maxi_lines();
  const std::size_t look_ahead =
      std::max(2 * maxi_lines, kBatchesAhead * work.size() * source.batches.mini_batch);
  OrderedWorkers<Item, Result> workers(std::move(work), std::move(sink), look_ahead);
  std::exception_ptr error;
  for (bool more = true; more && !error;) {
    std::vector<Item> items;
    std::vector<std::size_t> lengths;
    while (items.size() < maxi_lines && !error) {
      if (!wait_for_input(source, workers, !items.empty())) break;
      try {
        Item item;
        more = source.next(item);
        if (!more) break;
        lengths.push_back(source.length(item));
        items.push_back(std::move(item));
      } catch (...) {
        error = std::current_exception();
      }
    }
    const std::size_t first = workers.open(items.size() + (error ? 1 : 0));
    for (const auto& members : make_batches(lengths, source.batches)) {
      std::vector<std::size_t> numbers;
      std::vector<Item> batch;
      for (const std::size_t i : members) {
        numbers.push_back(first + i);
        batch.push_back(std::move(items[i]));
      }
      workers.submit(std::move(numbers), std::move(batch));
    }
    if (error) workers.fail(first + items.size(), error);
  }
  workers.finish();
}

}  // namespace fuselage
