#include "decoding/lines/batch_tuner.h"

#include <gmock/gmock.h>

#include <functional>

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Size = BatchTuner::Size;

constexpr BatchBounds kGrowing{.sentences = 512, .words = 16384, .grows_to = 4096};
constexpr std::size_t kManyLines = 32768;

/// The seconds that a batch takes.
using Device = std::function<double(const Size&)>;

/// Runs full batches of lines of 20 words.
void run(BatchTuner& tuner, const Device& device, int batches, std::size_t lines = kManyLines) {
  for (int i = 0; i < batches; ++i) {
    const Size size{.sentences = tuner.next(lines).sentences, .longest = 20};
    tuner.ran(size, size.padded_words(), device(size));
  }
}

/// Fast from `rows` sentences on: smaller batches take as long as one of so many.
Device saturates_at(std::size_t rows) {
  return [rows](const Size& size) {
    return 1e-3 * static_cast<double>(std::max(rows, size.sentences));
  };
}

TEST(BatchTuner, GrowsWhileThroughputDoes) {
  for (const auto& [rows, expected] : {std::pair<std::size_t, std::size_t>{100, 512},
                                       {512, 512},
                                       {1024, 1024},
                                       {2000, 2048},
                                       {100000, 4096}}) {
    BatchTuner tuner(kGrowing);
    run(tuner, saturates_at(rows), 200);
    EXPECT_EQ(tuner.bounds().sentences, expected) << rows;
    EXPECT_EQ(tuner.bounds().words, 32 * expected) << rows;
    EXPECT_EQ(tuner.next(kManyLines).sentences, expected) << "no trials in the end";
  }
}

TEST(BatchTuner, TriesAtMostTwiceTheSize) {
  BatchTuner tuner(kGrowing);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(tuner.next(kManyLines).sentences, i % 2 == 0 ? 512u : 1024u);
    EXPECT_EQ(tuner.next(4095).sentences, 512u) << "few lines are no trial";
  }
}

/// Shorter lines later take more time per word, as in a window that is sorted by length.
TEST(BatchTuner, IsNotMisledByTheLengthOfLines) {
  for (const double slower : {1.1, 0.9}) {
    BatchTuner tuner(kGrowing);
    double factor = 1;
    run(
        tuner,
        [&](const Size& size) {
          factor *= slower;
          return factor * 1e-3 * static_cast<double>(size.sentences);
        },
        100);
    EXPECT_EQ(tuner.bounds().sentences, 512u) << slower;
  }
}

TEST(BatchTuner, DoesNotCountTheFirstTrials) {
  BatchTuner tuner(kGrowing);
  std::size_t large = 0;
  run(
      tuner,
      [&](const Size& size) {
        const bool warms_up = size.sentences > 512 && ++large <= BatchTuner::kWarmUp;
        return warms_up ? 100.0 : saturates_at(1024)(size);
      },
      12);
  EXPECT_EQ(tuner.bounds().sentences, 1024u);
}

TEST(BatchTuner, KeepsBoundsThatMustNotGrow) {
  const BatchBounds fixed{.sentences = 64, .words = 2000};
  BatchTuner tuner(fixed);
  run(tuner, saturates_at(100000), 100);
  EXPECT_EQ(tuner.bounds().sentences, 64u);
  EXPECT_EQ(tuner.bounds().words, 2000u);
}

TEST(BatchTuner, StopsWhereMemoryEnds) {
  BatchTuner tuner(kGrowing);
  constexpr std::size_t kMaxWords = 30000;
  for (int i = 0; i < 200; ++i) {
    const Size size{.sentences = tuner.next(kManyLines).sentences, .longest = 20};
    if (size.padded_words() > kMaxWords)
      tuner.out_of_memory(size);
    else
      tuner.ran(size, size.padded_words(), saturates_at(100000)(size));
  }
  EXPECT_EQ(tuner.bounds().sentences, 1024u);
  EXPECT_EQ(tuner.bounds().words, 32768u);
  EXPECT_THAT(tuner.take_notes(), IsEmpty()) << "it was a trial";
}

TEST(BatchTuner, LowersBoundsOfAnyBatch) {
  BatchTuner tuner({.sentences = 8, .words = 1000});
  tuner.out_of_memory({.sentences = 6, .longest = 10});
  EXPECT_EQ(tuner.bounds().sentences, 3u);
  EXPECT_EQ(tuner.bounds().words, 1000u);
  tuner.out_of_memory({.sentences = 2, .longest = 400});
  EXPECT_EQ(tuner.bounds().sentences, 3u);
  EXPECT_EQ(tuner.next(10).words, 400u);
  EXPECT_THAT(tuner.take_notes(), ElementsAre(HasSubstr("memory was short")));
  EXPECT_THAT(tuner.take_notes(), IsEmpty());
}

/// A window begins with the longest lines: its first trial has nothing before it.
TEST(BatchTuner, DoesNotCompareWindows) {
  BatchTuner tuner(kGrowing);
  for (int window = 0; window < 20; ++window)
    for (const std::size_t lines : {8192, 100, 100}) {
      const std::size_t sentences = tuner.next(lines).sentences;
      // The first batch of each window is fast, and in every second window it is a trial.
      const double seconds = lines == 8192 ? 1 : 2;
      tuner.ran({.sentences = sentences, .longest = 20}, sentences * 20,
                seconds * static_cast<double>(sentences));
    }
  EXPECT_EQ(tuner.bounds().sentences, 512u);
}

TEST(BatchTuner, WarmsUpEachWorker) {
  constexpr std::size_t kWorkers = 3;
  BatchTuner tuner(kGrowing, kWorkers);
  std::size_t large = 0;
  run(
      tuner,
      [&](const Size& size) {
        const bool warms_up = size.sentences > 512 && ++large <= kWorkers * BatchTuner::kWarmUp;
        return warms_up ? 100.0 : saturates_at(1024)(size);
      },
      22);
  EXPECT_EQ(tuner.bounds().sentences, 1024u);
}

}  // namespace
}  // namespace fuselage
