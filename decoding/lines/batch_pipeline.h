#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "decoding/lines/ordered_workers.h"

namespace fuselage {

/// Waits for more input up to a timeout; false if there is none yet. May be empty.
using InputReady = std::function<bool(std::chrono::milliseconds)>;

/// A source of items.
template <typename Item>
struct ItemSource {
  /// Reads the next item; false at the end. An exception is handed on in place of the item.
  std::function<bool(Item&)> next;
  /// Length of an item in words.
  std::function<std::size_t(const Item&)> length;
  InputReady ready = nullptr;
};

/// Waits for input. Throws the error of a worker or the sink, if any, without waiting for input.
template <typename Item, typename Result>
void wait_for_input(const ItemSource<Item>& source, OrderedWorkers<Item, Result>& workers) {
  constexpr std::chrono::milliseconds kLookForErrors{50};
  if (!source.ready || source.ready(std::chrono::milliseconds{0})) return;
  workers.pause();
  while (!source.ready(kLookForErrors)) workers.rethrow_failure();
}

/// Reads items, processes them in batches on the workers, and hands the results on in input order.
/// Throws the first error in input order.
template <typename Item, typename Result>
void run_batches(const ItemSource<Item>& source, BatchFormer former,
                 std::vector<typename OrderedWorkers<Item, Result>::Work> work,
                 typename OrderedWorkers<Item, Result>::Sink sink) {
  OrderedWorkers<Item, Result> workers(std::move(work), std::move(sink), std::move(former));
  while (true) {
    wait_for_input(source, workers);
    Item item;
    try {
      if (!source.next(item)) break;
    } catch (...) {
      workers.fail(std::current_exception());
      break;
    }
    const std::size_t length = source.length(item);
    workers.add(std::move(item), length);
  }
  workers.finish();
}

}  // namespace fuselage
