#include "decoding/lines/batching.h"

#include <gmock/gmock.h>

#include <vector>

namespace fuselage::batching_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;
using Time = BatchFormer::Time;
using Batches = std::vector<std::vector<std::size_t>>;

constexpr BatchBounds kFastest{.sentences = 4, .words = 100};
constexpr Time kStart{};

void add_lines(BatchFormer& former, const std::vector<std::size_t>& lengths, Time now = kStart) {
  for (std::size_t i = 0; i < lengths.size(); ++i) former.add(i, lengths[i], now);
}

/// All batches of lines that come at once and with which the input ends.
Batches batches_of(const std::vector<std::size_t>& lengths, const BatchOptions& options,
                   std::size_t workers = 1, bool by_content = false) {
  BatchFormer former(options, kFastest, workers, by_content);
  add_lines(former, lengths);
  former.end();
  Batches batches;
  for (auto batch = former.take(kStart); !batch.empty(); batch = former.take(kStart))
    batches.push_back(std::move(batch));
  return batches;
}

TEST(BatchFormer, SortsTheLongestFirstAndEqualOnesInOrder) {
  EXPECT_THAT(batches_of({3, 9, 1, 9, 4}, {.mini_batch = 3}),
              ElementsAre(ElementsAre(1, 3, 4), ElementsAre(0, 2)));
}

TEST(BatchFormer, KeepsTheOrderWhenAsked) {
  EXPECT_THAT(
      batches_of({3, 9, 1, 9, 4}, {.mini_batch = 2, .maxi_batch_sort = MaxiBatchSort::none}),
      ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(BatchFormer, SortsWithinWindows) {
  EXPECT_THAT(batches_of({1, 2, 3, 4, 5, 6}, {.mini_batch = 2, .maxi_batch = 2}),
              ElementsAre(ElementsAre(3, 2), ElementsAre(1, 0), ElementsAre(5, 4)));
}

TEST(BatchFormer, CountsWordsWithPadding) {
  EXPECT_THAT(batches_of({3, 9, 1, 9, 4}, {.mini_batch_words = 18}),
              ElementsAre(ElementsAre(1, 3), ElementsAre(4, 0, 2)));
  // In their order a longer line makes those before it longer, too.
  EXPECT_THAT(
      batches_of({3, 9, 1, 9, 4}, {.mini_batch_words = 18, .maxi_batch_sort = MaxiBatchSort::none}),
      ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(BatchFormer, GivesALineThatIsTooLongABatchOfItsOwn) {
  EXPECT_THAT(
      batches_of({3, 9, 1, 9, 4}, {.mini_batch_words = 5}),
      ElementsAre(ElementsAre(1), ElementsAre(3), ElementsAre(4), ElementsAre(0), ElementsAre(2)));
}

TEST(BatchFormer, BoundsBatchesWithoutOptions) {
  EXPECT_THAT(batches_of({1, 1, 1, 1, 1, 1, 1, 1}, {}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  EXPECT_THAT(batches_of({60, 50, 50, 200}, {}),
              ElementsAre(ElementsAre(3), ElementsAre(0), ElementsAre(1, 2)));
}

TEST(BatchFormer, DividesAWindowEvenly) {
  EXPECT_THAT(batches_of({1, 1, 1, 1, 1}, {}),
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4)));
  EXPECT_THAT(batches_of({1, 1, 1, 1, 1, 1}, {}), ElementsAre(SizeIs(3), SizeIs(3)));
}

TEST(BatchFormer, GivesEachWorkerAPartOfFewLines) {
  EXPECT_THAT(batches_of({5, 5, 5, 5}, {}, 4), SizeIs(4));
  const Batches batches = batches_of(std::vector<std::size_t>(12, 5), {}, 4);
  EXPECT_THAT(batches[0], SizeIs(3));
  EXPECT_THAT(batches.back(), SizeIs(1));
  // Parts are of words, not of lines.
  EXPECT_THAT(batches_of({3, 3, 3, 3, 12}, {}, 2),
              ElementsAre(ElementsAre(4), ElementsAre(0, 1), ElementsAre(2), ElementsAre(3)));
}

TEST(BatchFormer, GivesSizesThatAreGivenWhateverTheNumberOfWorkers) {
  EXPECT_THAT(batches_of({5, 5, 5, 5}, {.mini_batch = 4}, 4), SizeIs(1));
  EXPECT_THAT(batches_of({5, 5, 5, 5}, {.mini_batch_words = 20}, 4), SizeIs(1));
}

TEST(BatchFormer, LetsNoLineWaitLongerThanItsBound) {
  BatchFormer former({}, kFastest, 1);
  EXPECT_FALSE(former.due());
  former.add(0, 3, kStart);
  former.add(1, 3, kStart + 9ms);
  EXPECT_EQ(former.due(), kStart + 10ms);
  EXPECT_THAT(former.take(kStart + 10ms - 1ns), IsEmpty());
  EXPECT_THAT(former.take(kStart + 10ms), ElementsAre(0, 1));
  EXPECT_FALSE(former.due());
  former.add(2, 3, kStart + 20ms);
  EXPECT_EQ(former.due(), kStart + 30ms);
}

TEST(BatchFormer, LetsNoLineWaitWhileTheInputPauses) {
  BatchFormer former({}, kFastest, 1);
  former.add(0, 3, kStart);
  former.pause();
  EXPECT_LE(former.due(), kStart);
  EXPECT_THAT(former.take(kStart), ElementsAre(0));
  former.add(1, 3, kStart);
  EXPECT_THAT(former.take(kStart), IsEmpty()) << "the line ends the pause";
}

TEST(BatchFormer, FormsBatchesOfAllThatWaits) {
  BatchFormer former({}, kFastest, 1);
  former.add(0, 3, kStart);
  former.pause();
  EXPECT_THAT(former.take(kStart), ElementsAre(0));
  // These come one by one while the worker is busy.
  for (const std::size_t number : {1, 2, 3}) {
    former.add(number, number, kStart);
    former.pause();
  }
  EXPECT_THAT(former.take(kStart), ElementsAre(3, 2, 1));
}

TEST(BatchFormer, TakesAFullWindowAtOnce) {
  BatchFormer former({.mini_batch = 2, .maxi_batch = 2}, kFastest, 1);
  add_lines(former, {1, 2, 3});
  EXPECT_THAT(former.take(kStart), IsEmpty());
  former.add(3, 4, kStart);
  EXPECT_THAT(former.take(kStart), ElementsAre(3, 2));
}

TEST(BatchFormer, ClosesWindowsOfLongLinesEarly) {
  BatchFormer former({}, kFastest, 1, true);
  add_lines(former, {BatchFormer::kMaxWordsAhead / 2});
  EXPECT_THAT(former.take(kStart), ElementsAre(0));
}

TEST(BatchFormer, DependsOnTheLinesAloneWhenAsked) {
  BatchFormer former({.mini_batch = 2, .maxi_batch = 2}, kFastest, 3, true);
  add_lines(former, {1, 2, 3});
  former.pause();
  EXPECT_FALSE(former.due());
  EXPECT_THAT(former.take(kStart + 1h), IsEmpty());
  former.end();
  EXPECT_THAT(former.take(kStart), ElementsAre(0, 1)) << "in their order, as in marian-decoder";
  EXPECT_THAT(former.take(kStart), ElementsAre(2));
  EXPECT_THAT(batches_of({1, 2, 3}, {}, 1, true), Each(SizeIs(1)));
}

TEST(BatchFormer, BoundsTheLinesAhead) {
  EXPECT_EQ(BatchFormer({.mini_batch = 3, .maxi_batch = 5}, kFastest, 1).max_lines_ahead(), 30u);
  EXPECT_THAT(BatchFormer({}, kFastest, 8).max_lines_ahead(), Le(1000u));
}

TEST(BatchFormer, TakesNothing) { EXPECT_THAT(batches_of({}, {}), IsEmpty()); }

// --- What the optimizer is told of batches ---

TEST(BatchBounds, AreThoseThatAreAskedForOrTheFastest) {
  EXPECT_EQ(batch_bounds({}, kFastest, false).sentences, kFastest.sentences);
  EXPECT_EQ(batch_bounds({.mini_batch = 3}, kFastest, false).sentences, 3u);
  EXPECT_EQ(batch_bounds({.mini_batch_words = 70}, kFastest, false).words, 70u);
  EXPECT_EQ(batch_bounds({}, kFastest, true).sentences, 1u) << "as in marian-decoder";
}

TEST(BatchBounds, AreNotAboveFirmOnesUnlessBatchesDecideOnContent) {
  const BatchBounds firm{.sentences = 12, .words = 1024, .firm = true};
  EXPECT_EQ(batch_bounds({.mini_batch = 64}, firm, false).sentences, 12u);
  EXPECT_EQ(batch_bounds({.mini_batch = 64}, firm, false).words, 1024u);
  EXPECT_EQ(batch_bounds({.mini_batch = 3}, firm, false).sentences, 3u);
  EXPECT_EQ(batch_bounds({.mini_batch_words = 5000}, firm, false).words, 1024u);
  EXPECT_EQ(batch_bounds({.mini_batch_words = 70}, firm, false).words, 70u);
  EXPECT_EQ(batch_bounds({.mini_batch_words = 70}, firm, false).sentences, 12u);
  EXPECT_EQ(batch_bounds({.mini_batch = 64}, firm, true).sentences, 64u) << "lists of a batch";
}

TEST(ExpectedWorkload, HasTheBeamAndTheSentencesOfABatch) {
  const Workload workload = expected_workload(4, {.sentences = 10, .words = 1024});
  EXPECT_EQ(workload.beam, 4);
  EXPECT_EQ(workload.batch, 10);
  EXPECT_EQ(workload.distinct_parents, expected_distinct_parents(4));
  EXPECT_EQ(expected_workload(1, {.sentences = 512, .words = 100}).batch,
            100 / workload.source_length);
  EXPECT_EQ(expected_workload(1, {.sentences = 512, .words = 7}).batch, 1) << "a long line alone";
}

}  // namespace
}  // namespace fuselage::batching_test
