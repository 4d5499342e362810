#include "fuselage/decoding/beam_search.h"

#include <gmock/gmock.h>

#include <cmath>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

/// What a fake worker saw and what it is to do.
struct Script {
  bool searches = true;
  SearchRecord record;
  std::int32_t error_after = -1;  ///< words after which the scores are not numbers; -1: never

  int searches_run = 0, steps_run = 0;
  SearchSettings settings;
};

/// A worker that searches by itself, as its script says. Its step gives each hypothesis the words
/// 1 and 0, of which 0 ends it, in that order.
class ScriptedWorker : public Worker {
 public:
  explicit ScriptedWorker(Script& script) : script_(script) {}

  void begin(const Batch&, const StepLimits&) override {}
  bool search(const SearchSettings& settings, SearchRecord& record) override {
    ++script_.searches_run;
    if (!script_.searches) return false;
    if (script_.error_after >= 0) throw Error(scores_are_not_numbers(script_.error_after));
    script_.settings = settings;
    record = script_.record;
    return true;
  }
  void step(const StepInput& input) override {
    ++script_.steps_run;
    rows_ = static_cast<std::int64_t>(input.words.size());
  }
  OutputRows<float> floats(std::size_t output) const override {
    if (output == 2) return {scores_.data(), 2 * rows_, 1};  // two words are listed
    return {output == 0 ? scores_.data() : alignment_.data(), rows_, 2};
  }
  OutputRows<std::int32_t> integers(std::size_t) const override {
    return {words_.data(), rows_, 2};
  }

 private:
  Script& script_;
  std::int64_t rows_ = 0;
  std::vector<float> scores_{-0.5f, -1.0f, -0.5f, -1.0f, -0.5f, -1.0f, -0.5f, -1.0f};
  std::vector<std::int32_t> words_{1, 0, 1, 0, 1, 0, 1, 0};
  std::vector<float> alignment_ = std::vector<float>(64, 0.5f);
};

class ScriptedExecutable : public Executable {
 public:
  explicit ScriptedExecutable(Script& script) : script_(script) {}
  std::unique_ptr<Worker> make_worker(std::size_t) const override {
    return std::make_unique<ScriptedWorker>(script_);
  }
  std::size_t output(std::string_view name) const override {
    if (name == kListedScores) return 2;
    return name == kAlignment ? 1 : 0;
  }

 private:
  Script& script_;
};

TEST(BeamSearch, TellsAWorkerThatSearchesWhatItNeeds) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 5,
                                 .max_length_factor = 1.5f,
                                 .end_id = 3,
                                 .suppressed = {9, 1},
                                 .alignment = false});
  const std::vector<WordIds> sentences{{7, 7, 3}, {3}};
  EXPECT_THAT(search.search(sentences), ElementsAre(IsEmpty(), IsEmpty()));
  EXPECT_EQ(script.settings.beam_size, 5);
  EXPECT_EQ(script.settings.end_id, 3);
  EXPECT_THAT(script.settings.suppressed, ElementsAre(1, 9));
  EXPECT_THAT(script.settings.length_limits, ElementsAre(5, 2));
  search.search(std::vector<WordIds>{{7, 7}});
  EXPECT_THAT(script.settings.length_limits, ElementsAre(3));
  EXPECT_EQ(script.steps_run, 0);
}

TEST(BeamSearch, ReadsTheRecordOfAWorkerThatSearches) {
  Script script;
  // Slots that nothing leads to hold nonsense, and the second sentence is done first.
  script.record.tokens = {{4, -1, -1.0f}, {99, 99, NAN},   {5, -1, -0.25f},
                          {6, 2, -0.5f},  {0, 0, -0.125f}, {0, 3, -2.0f}};
  script.record.finished = {{1, 2, 1, -0.25f}, {0, 5, 3, -2.75f}, {0, 4, 2, -1.125f}};
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 2, .normalize = 1, .word_penalty = 0.5f});
  const auto results = search.search(std::vector<WordIds>{{1, 0}, {0}});
  ASSERT_THAT(results, SizeIs(2));
  ASSERT_THAT(results[0], SizeIs(2));
  EXPECT_THAT(results[0][0].words, ElementsAre(4, 0));
  EXPECT_THAT(results[0][0].word_scores, ElementsAre(-1.0f, -0.125f));
  EXPECT_EQ(results[0][0].log_probability, -1.125f);
  EXPECT_EQ(results[0][0].score, (-1.125f - 0.5f * 2) / 2);
  EXPECT_THAT(results[0][0].alignment, IsEmpty());
  EXPECT_THAT(results[0][1].words, ElementsAre(5, 6, 0));
  EXPECT_THAT(results[0][1].word_scores, ElementsAre(-0.25f, -0.5f, -2.0f));
  ASSERT_THAT(results[1], SizeIs(1));
  EXPECT_THAT(results[1][0].words, ElementsAre(5));
}

TEST(BeamSearch, KeepsTheOrderOfHypothesesWithEqualScores) {
  Script script;
  script.record.tokens = {{0, -1, -1.0f}, {7, -1, -0.5f}, {0, 1, -0.5f}};
  script.record.finished = {{0, 0, 1, -1.0f}, {0, 2, 2, -1.0f}};
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 2});
  const auto results = search.search(std::vector<WordIds>{{0}});
  ASSERT_THAT(results[0], SizeIs(2));
  EXPECT_THAT(results[0][0].words, ElementsAre(0));
  EXPECT_THAT(results[0][1].words, ElementsAre(7, 0));
}

TEST(BeamSearch, PassesOnThatScoresAreNotNumbers) {
  Script script{.error_after = 4, .settings = {}};
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 2});
  EXPECT_THAT([&] { search.search(std::vector<WordIds>{{0}}); },
              ThrowsMessage<Error>(HasSubstr("not numbers after 4 words")));
}

TEST(BeamSearch, SearchesByStepsWhereTheWorkerDoesNot) {
  Script script{.searches = false, .record = {}, .settings = {}};
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 2, .max_length_factor = 3});
  for (int run = 1; run <= 2; ++run) {
    const auto results = search.search(std::vector<WordIds>{{0}});
    ASSERT_THAT(results[0], SizeIs(2));
    EXPECT_THAT(results[0][0].words, ElementsAre(0));
    EXPECT_THAT(results[0][1].words, ElementsAre(1, 1, 1));
    EXPECT_EQ(script.searches_run, run);
    EXPECT_EQ(script.steps_run, 3 * run);
  }
}

TEST(BeamSearch, SearchesByStepsWhenAlignmentsAreAskedFor) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 1, .max_length_factor = 1, .alignment = true});
  const auto results = search.search(std::vector<WordIds>{{5, 0}});
  EXPECT_EQ(script.searches_run, 0);
  ASSERT_THAT(results[0], SizeIs(1));
  EXPECT_THAT(results[0][0].words, ElementsAre(1, 1));
  EXPECT_THAT(results[0][0].alignment, ElementsAre(SizeIs(2), SizeIs(2)));
}

TEST(BeamSearch, BeginsHypothesesWithTheirPrefixes) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 2, .normalize = 1, .max_words = 2, .end_id = 7});
  const std::vector<WordIds> sentences{{5, 0}, {5, 0}};
  const std::vector<SearchGuide> prefixes{{.prefix = {9, 8}}, {}};
  const auto results = search.search(sentences, {}, prefixes);
  EXPECT_EQ(script.searches_run, 0);
  EXPECT_EQ(script.steps_run, 4);
  ASSERT_THAT(results[0], SizeIs(2));
  EXPECT_THAT(results[0][0].words, ElementsAre(9, 8, 1, 1));
  EXPECT_THAT(results[0][0].word_scores, ElementsAre(0, 0, -0.5f, -0.5f));
  EXPECT_EQ(results[0][0].score, -0.5f);
  EXPECT_THAT(results[1][0].words, ElementsAre(1, 1));
}

TEST(BeamSearch, KeepsTheWidthOfItsBeamOnRequest) {
  Script script;
  const ScriptedExecutable executable(script);
  SearchOptions options{.beam_size = 2, .max_words = 3, .keep_beam = true};
  const auto search = [&] {
    script.steps_run = 0;
    return BeamSearch(executable, options).search(std::vector<WordIds>{{5, 0}})[0];
  };
  auto results = search();
  EXPECT_EQ(script.searches_run, 0);
  EXPECT_EQ(script.steps_run, 3);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].words, ElementsAre(0));
  EXPECT_THAT(results[1].words, ElementsAre(1, 0));
  // Two have ended, but the open one, with -1, is better than the second.
  options.early_stopping = EarlyStopping::heuristic;
  EXPECT_THAT(search(), SizeIs(2));
  EXPECT_EQ(script.steps_run, 3);
  options.early_stopping = EarlyStopping::first;
  EXPECT_THAT(search(), SizeIs(2));
  EXPECT_EQ(script.steps_run, 2);
  // A beam of 1 is a greedy search.
  options.beam_size = 1;
  script.searches = false;
  EXPECT_THAT(search()[0].words, ElementsAre(1, 1, 1));
}

TEST(BeamSearch, EndsAtTheLengthLimitOnRequest) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 1, .max_words = 3, .forced_end = true});
  const auto results = search.search(std::vector<WordIds>{{5, 0}});
  EXPECT_THAT(results[0][0].words, ElementsAre(1, 1, 0));
  EXPECT_THAT(results[0][0].word_scores, ElementsAre(-0.5f, -0.5f, 0));
}

TEST(BeamSearch, CountsWordsThatAllHypothesesBeginWithAndGivesResultsWithoutThem) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(
      executable, {.beam_size = 1, .normalize = 1, .max_words = 3, .beginning = {9}, .end_id = 7});
  const std::vector<WordIds> sentences{{5, 0}, {5, 0}};
  const auto results = search.search(sentences, {}, std::vector<SearchGuide>{{.prefix = {8}}, {}});
  EXPECT_THAT(results[0][0].words, ElementsAre(8, 1, 1));
  EXPECT_EQ(results[0][0].score, -1.0f / 3);
  EXPECT_THAT(results[1][0].words, ElementsAre(1, 1));
  EXPECT_THAT(results[1][0].word_scores, ElementsAre(-0.5f, -0.5f));
  EXPECT_EQ(results[1][0].score, -1.0f / 3);
}

TEST(BeamSearch, ScoresPrefixesOnRequest) {
  Script script;
  const ScriptedExecutable executable(script);
  BeamSearch search(executable, {.beam_size = 1,
                                 .normalize = 1,
                                 .word_penalty = 0.25f,
                                 .max_words = 1,
                                 .end_id = 7,
                                 .guided = true});
  const auto results =
      search.search(std::vector<WordIds>{{0}}, {}, std::vector<SearchGuide>{{.prefix = {0, 1}}});
  EXPECT_THAT(results[0][0].words, ElementsAre(0, 1, 1));
  EXPECT_THAT(results[0][0].word_scores, ElementsAre(-0.5f, -1.0f, -0.5f));
  EXPECT_EQ(results[0][0].score, (-2.0f - 0.25f * 3) / 3);
}

}  // namespace
}  // namespace fuselage
