#include "fuselage/decoding/score_summary.h"

#include <gmock/gmock.h>

#include <cmath>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

TEST(ScoreSummary, IsOfTheLogProbabilities) {
  ScoreTotals totals;
  EXPECT_EQ(totals.summary(ScoreSummary::perplexity), 0);
  totals.add({.word_scores = {-1, -2, -3}, .log_probability = -6, .score = -2});
  totals.add({.word_scores = {-2}, .log_probability = -2, .score = -2});
  EXPECT_EQ(totals.summary(ScoreSummary::ce_mean), 4);
  EXPECT_EQ(totals.summary(ScoreSummary::ce_mean_words), 2);
  EXPECT_EQ(totals.summary(ScoreSummary::ce_sum), 8);
  EXPECT_EQ(totals.summary(ScoreSummary::perplexity), std::exp(2.0));
}

TEST(ScoreSummary, HasTheNamesOfMarian) {
  EXPECT_EQ(score_summary_from_string("cross-entropy"), ScoreSummary::ce_mean);
  EXPECT_EQ(score_summary_from_string("ce-mean"), ScoreSummary::ce_mean);
  EXPECT_EQ(score_summary_from_string("ce-mean-words"), ScoreSummary::ce_mean_words);
  EXPECT_EQ(score_summary_from_string("ce-sum"), ScoreSummary::ce_sum);
  EXPECT_EQ(score_summary_from_string("perplexity"), ScoreSummary::perplexity);
  EXPECT_THAT([] { score_summary_from_string("perplex"); },
              ::testing::ThrowsMessage<Error>(::testing::HasSubstr("perplexity")));
}

}  // namespace
}  // namespace fuselage
