#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "decoding/ordered_workers.h"

namespace fuselage {

/// Waits up to so long for more input; false when there is none yet. May be empty.
using InputReady = std::function<bool(std::chrono::milliseconds)>;

/// Where items come from.
template <typename Item>
struct ItemSource {
  /// Reads the next item; false: there are no more. What it throws takes the place of the item.
  std::function<bool(Item&)> next;
  /// Its length in words.
  std::function<std::size_t(const Item&)> length;
  InputReady ready = nullptr;
};

/// Returns when there is input. Throws the error that ended the work, if one did, which would
/// otherwise wait for the input.
template <typename Item, typename Result>
void wait_for_input(const ItemSource<Item>& source, OrderedWorkers<Item, Result>& workers) {
  constexpr std::chrono::milliseconds kLookForErrors{50};
  if (!source.ready || source.ready(std::chrono::milliseconds{0})) return;
  workers.pause();
  while (!source.ready(kLookForErrors)) workers.rethrow_failure();
}

/// Reads items, has the workers work on them in batches, and hands the results on in the order in
/// which the items were read. Throws the first error of that order.
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
