// Searches that end as soon as their result is known, against searches that end by themselves.

#include <gmock/gmock.h>

#include <fstream>

#include "decoding/search/final_scores.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "models/architectures/scores.h"
#include "tests/decoding/support.h"
#include "text/vocabulary.h"

namespace fuselage::early_stop_test {
namespace {

TEST(FinalScores, AreBoundedWhateverFollows) {
  for (const float penalty : {0.0f, 0.3f, -0.2f, 2.0f})
    for (const float normalize : {0.0f, 0.6f, 1.0f, 1.4f, -0.5f}) {
      const FinalScores scores(penalty, normalize);
      for (const float path : {0.0f, -0.5f, -4.0f, -60.0f})
        for (const std::int32_t first : {1, 3, 20})
          for (const std::int32_t last : {first, first + 1, first + 30, 300}) {
            const double bound = scores.bound(path, first, last);
            for (std::int32_t words = first; words <= last; ++words)
              for (const float later : {0.0f, 0.01f, 1.0f})
                ASSERT_LE(scores.of(path - later, words), bound)
                    << penalty << " " << normalize << " " << path << " " << words;
          }
    }
}

TEST(BestScores, AreBeatenByNoneOfTheSame) {
  BestScores best;
  best.reset(2);
  best.add(-1);
  EXPECT_FALSE(best.beats(-9));
  best.add(-3);
  best.add(-2);
  EXPECT_TRUE(best.beats(-2.5));
  EXPECT_FALSE(best.beats(-2));
  EXPECT_FALSE(best.beats(-1.5));
}

struct Case {
  std::string model;
  float normalize, word_penalty;
  std::int32_t n_best;
  bool fewer = true;  ///< steps
};

class EarlyStop : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Settings, EarlyStop,
                         ::testing::Values(Case{"s2s-basic", 0, 0, 1},
                                           Case{"s2s-basic", 0.6f, 0, 1},
                                           Case{"nematus", 0.3f, 0, 2},
                                           Case{"transformer-post", 0, 0.5f, 1},
                                           Case{"transformer-ssru", 1.2f, -0.3f, 3, false},
                                           Case{"transformer-ssru", 0.6f, 0.2f, 6, false}),
                         [](const auto& test) { return std::to_string(test.index); });

std::vector<WordIds> sentences_of(const std::string& model) {
  const auto vocabulary = load_vocabulary(support::vocabularies()[0]);
  std::ifstream input(support::conformance_case(model) + "/input.sp.en");
  std::vector<WordIds> sentences;
  for (std::string line; std::getline(input, line);) sentences.push_back(vocabulary->encode(line));
  return sentences;
}

/// The search of a case, and the steps that it takes.
struct Searched {
  std::vector<NBest> results;
  std::uint64_t steps;
};

Searched search(const Case& test, bool early_stop) {
  const Model model = load_model(support::conformance_case(test.model) + "/model.npz");
  const SearchOptions options{.beam_size = 6,
                              .normalize = test.normalize,
                              .word_penalty = test.word_penalty,
                              .n_best = test.n_best,
                              .early_stop = early_stop,
                              .suppressed = {1}};
  const auto executable = compile(with_search_head(model.graph, SearchHead::k_best,
                                                   {.k = BeamSearch::candidates_per_row(options)}),
                                  model.weights);
  BeamSearch search(*executable, options);
  Searched searched{.results = {}, .steps = 0};
  for (const WordIds& sentence : sentences_of(test.model)) {
    const std::vector<WordIds> batch{sentence};
    searched.results.push_back(search.search(batch)[0]);
    searched.steps += search.steps();
  }
  return searched;
}

TEST_P(EarlyStop, GivesTheSameHypothesesInFewerSteps) {
  const Searched whole = search(GetParam(), false);
  const Searched stopped = search(GetParam(), true);
  ASSERT_EQ(stopped.results.size(), whole.results.size());
  for (std::size_t s = 0; s < whole.results.size(); ++s) {
    ASSERT_EQ(stopped.results[s].size(), whole.results[s].size()) << s;
    for (std::size_t h = 0; h < whole.results[s].size(); ++h) {
      EXPECT_EQ(stopped.results[s][h].words, whole.results[s][h].words);
      EXPECT_EQ(stopped.results[s][h].word_scores, whole.results[s][h].word_scores);
      EXPECT_EQ(stopped.results[s][h].score, whole.results[s][h].score);
    }
  }
  if (GetParam().fewer)
    EXPECT_LT(stopped.steps, whole.steps);
  else
    EXPECT_EQ(stopped.steps, whole.steps);
}

}  // namespace
}  // namespace fuselage::early_stop_test
