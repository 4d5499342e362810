#include "decoding/lines/ordered_workers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "decoding/lines/batch_pipeline.h"

namespace fuselage::ordered_workers_test {
namespace {

using Workers = OrderedWorkers<int, int>;

std::vector<Workers::Work> squaring(std::size_t threads) {
  const auto work = [](std::vector<int>& items) {
    std::vector<int> results;
    for (const int item : items) {
      if (item % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      if (item == 1000) throw Error(fmt::format("item {}", item));
      results.push_back(item * item);
    }
    return results;
  };
  return std::vector<Workers::Work>(threads, work);
}

ItemSource<int> counting(int& next, int end) {
  return {[&next, end](int& item) {
            item = next++;
            return item < end;
          },
          [](const int& item) { return static_cast<std::size_t>(item * 31 % 17); }};
}

constexpr BatchBounds kFastest{.sentences = 4, .words = 30};

/// Batches of three, sorted within windows of five.
BatchFormer threes(std::size_t workers) {
  return BatchFormer({.mini_batch = 3, .maxi_batch = 5}, kFastest, workers);
}

TEST(OrderedWorkers, HandsOnInOrderWhateverFinishesFirst) {
  for (const std::size_t threads : {1, 2, 5})
    for (const BatchFormer& former : {threes(threads), BatchFormer({}, kFastest, threads)}) {
      int next = 0;
      std::vector<std::size_t> numbers;
      run_batches<int, int>(counting(next, 500), former, squaring(threads),
                            [&](std::size_t number, int&& result) {
                              EXPECT_EQ(result, static_cast<int>(number * number));
                              numbers.push_back(number);
                            });
      ASSERT_EQ(numbers.size(), 500u);
      EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
    }
}

TEST(OrderedWorkers, ThrowsAnErrorOfTheWorkAfterAllResultsBeforeIt) {
  int next = 990;
  std::vector<std::size_t> numbers;
  const BatchFormer former({.mini_batch = 1, .maxi_batch = 4}, kFastest, 3);
  EXPECT_THROW(
      (run_batches<int, int>(counting(next, 2000), former, squaring(3),
                             [&](std::size_t number, int&&) { numbers.push_back(number); })),
      Error);
  EXPECT_EQ(numbers.size(), 10u);
}

TEST(OrderedWorkers, ThrowsAnErrorOfTheInputAfterAllResultsBeforeIt) {
  int next = 0;
  ItemSource<int> source = counting(next, 2000);
  source.next = [&](int& item) {
    item = next++;
    if (item == 100) throw Error("line 101 is bad");
    return true;
  };
  std::size_t count = 0;
  EXPECT_THROW(
      (run_batches<int, int>(source, threes(2), squaring(2), [&](std::size_t, int&&) { ++count; })),
      Error);
  EXPECT_EQ(count, 100u);
}

TEST(OrderedWorkers, StopsReadingWhenTheSinkFails) {
  int next = 0;
  EXPECT_THROW((run_batches<int, int>(counting(next, 1 << 30), threes(2), squaring(2),
                                      [&](std::size_t number, int&&) {
                                        if (number == 20) throw Error("disk full");
                                      })),
               Error);
  EXPECT_LT(next, 1000);
}

TEST(OrderedWorkers, ThrowsTheErrorOfASinkWhileTheInputPauses) {
  int next = 0;
  ItemSource<int> source = counting(next, 2);
  // The second item never comes.
  source.ready = [&](std::chrono::milliseconds timeout) {
    if (next < 1) return true;
    std::this_thread::sleep_for(timeout);
    return false;
  };
  EXPECT_THROW((run_batches<int, int>(source, threes(2), squaring(2),
                                      [](std::size_t, int&&) { throw Error("disk full"); })),
               Error);
}

/// Squares in batches of at most `most` items: memory is short for more.
Workers::Work squaring_at_most(std::size_t most, std::vector<std::size_t>& sizes) {
  return [most, &sizes](std::vector<int>& items) {
    sizes.push_back(items.size());
    if (items.size() > most) throw OutOfMemory(fmt::format("{} items", items.size()));
    std::vector<int> results;
    for (const int item : items) results.push_back(item * item);
    return results;
  };
}

TEST(OrderedWorkers, DividesBatchesThatMemoryIsShortFor) {
  for (const std::size_t most : {1, 2, 3, 5, 100}) {
    int next = 0;
    std::size_t count = 0;
    std::vector<std::size_t> sizes;
    const BatchFormer former({.mini_batch = 32, .maxi_batch = 4}, kFastest, 1);
    ItemSource<int> source = counting(next, 500);
    source.length = [](const int&) { return std::size_t{10}; };
    run_batches<int, int>(source, former, {squaring_at_most(most, sizes)},
                          [&](std::size_t number, int&& result) {
                            EXPECT_EQ(number, count++);
                            EXPECT_EQ(result, static_cast<int>(number * number));
                          });
    EXPECT_EQ(count, 500u);
    const auto failed = [most](std::size_t size) { return size > most; };
    const auto failures = std::ranges::count_if(sizes, failed);
    EXPECT_LE(failures, most < 32 ? 5 : 0) << "of the first batch: later ones are smaller";
    EXPECT_GE(failures, most < 32 ? 1 : 0);
  }
}

TEST(OrderedWorkers, ThrowsTheErrorOfAnItemThatMemoryIsShortFor) {
  int next = 0;
  std::vector<std::size_t> sizes;
  const BatchFormer former({.mini_batch = 4, .maxi_batch = 1}, kFastest, 1);
  EXPECT_THROW((run_batches<int, int>(counting(next, 10), former, {squaring_at_most(0, sizes)},
                                      [](std::size_t, int&&) {})),
               OutOfMemory);
}

TEST(OrderedWorkers, DoesNotDivideBatchesThatDependOnTheirLines) {
  int next = 0;
  std::vector<std::size_t> sizes;
  const BatchFormer former({.mini_batch = 4, .maxi_batch = 1}, kFastest, 1, /*by_content=*/true);
  EXPECT_THROW((run_batches<int, int>(counting(next, 10), former, {squaring_at_most(3, sizes)},
                                      [](std::size_t, int&&) {})),
               OutOfMemory);
  EXPECT_EQ(sizes.size(), 1u);
}

/// Items that were read while a worker waits, and in the end.
std::pair<int, int> read_ahead(std::size_t length, int end) {
  std::atomic<int> read = 0;
  std::atomic<bool> release = false;
  int next = 0;
  ItemSource<int> source = counting(next, end);
  source.next = [&read, inner = source.next](int& item) {
    ++read;
    return inner(item);
  };
  source.length = [length](const int&) { return length; };
  const Workers::Work waiting = [&](std::vector<int>& items) {
    while (!release) std::this_thread::yield();
    return items;
  };
  std::thread reader(
      [&] { run_batches<int, int>(source, threes(1), {waiting}, [](std::size_t, int&&) {}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int while_blocked = read;
  release = true;
  reader.join();
  return {while_blocked, read};
}

TEST(OrderedWorkers, DoesNotReadAheadWithoutBound) {
  const auto [items, all_items] = read_ahead(1, 10000);
  EXPECT_LE(items, 31);
  EXPECT_EQ(all_items, 10001);
  const auto [long_items, all_long_items] = read_ahead(BatchFormer::kMaxWordsAhead / 4, 100);
  EXPECT_LE(long_items, 5);
  EXPECT_EQ(all_long_items, 101);
}

TEST(OrderedWorkers, TakesAnItemThatIsLongerThanAllThatMayWait) {
  EXPECT_EQ(read_ahead(2 * BatchFormer::kMaxWordsAhead, 10).second, 11);
}

TEST(OrderedWorkers, DoesNotWaitForAFullBatchWhileTheInputPauses) {
  int next = 0;
  std::atomic<std::size_t> done = 0;
  ItemSource<int> source = counting(next, 6);
  // The third item comes only when the first two are done.
  source.ready = [&](std::chrono::milliseconds timeout) {
    if (next < 2 || done >= 2) return true;
    std::this_thread::sleep_for(timeout);
    return false;
  };
  run_batches<int, int>(source, threes(1), squaring(1), [&](std::size_t, int&&) { ++done; });
  EXPECT_EQ(done, 6u);
}

TEST(OrderedWorkers, DoesNotWaitForAFullBatchWhileReadingBlocks) {
  int next = 0;
  std::atomic<std::size_t> done = 0;
  ItemSource<int> source = counting(next, 6);
  source.next = [&done, inner = source.next](int& item) {
    if (!inner(item)) return false;
    while (item == 2 && done < 2) std::this_thread::yield();
    return true;
  };
  run_batches<int, int>(source, threes(1), squaring(1), [&](std::size_t, int&&) { ++done; });
  EXPECT_EQ(done, 6u);
}

TEST(OrderedWorkers, WorksOnAllThatCameWhileTheWorkersWereBusy) {
  std::vector<std::size_t> sizes;
  std::atomic<bool> started = false, all_read = false;
  int next = 0;
  ItemSource<int> source = counting(next, 5);
  source.length = [](const int&) { return std::size_t{1}; };
  // The second item comes when the first is worked on, which takes until all have come.
  source.ready = [&](std::chrono::milliseconds timeout) {
    if (next == 5) all_read = true;
    if (next != 1 || started) return true;
    std::this_thread::sleep_for(timeout);
    return false;
  };
  const Workers::Work work = [&](std::vector<int>& items) {
    sizes.push_back(items.size());
    started = true;
    while (!all_read) std::this_thread::yield();
    return items;
  };
  run_batches<int, int>(source, BatchFormer({}, kFastest, 1), {work}, [](std::size_t, int&&) {});
  EXPECT_THAT(sizes, ::testing::ElementsAre(1, 4));
}

#ifdef __GLIBC__
TEST(OrderedWorkers, ThrowsAnErrorWhenThereAreNoThreads) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_getattr_default_np(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  std::string message;
  try {
    const Workers workers(
        squaring(3), [](std::size_t, int&&) {}, threes(3));
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_EQ(pthread_setattr_default_np(&before), 0);
  EXPECT_THAT(message, ::testing::StartsWith("cannot start 3 threads: "));
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&before);
}
#endif

TEST(OrderedWorkers, TakesNoItems) {
  int next = 0;
  run_batches<int, int>(counting(next, 0), threes(2), squaring(2),
                        [](std::size_t, int&&) { FAIL(); });
}

}  // namespace
}  // namespace fuselage::ordered_workers_test
