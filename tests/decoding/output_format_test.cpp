#include "decoding/output_format.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace fuselage {
namespace {

Translation two_hypotheses() {
  Translation translation;
  translation.n_best.push_back({"a b",
                                {.words = {5, 6, 0},
                                 .word_scores = {-0.5F, -0.25F, -1e-5F},
                                 .log_probability = -12.34567F,
                                 .score = -0.0001234567F,
                                 .alignment = {{0.25F, 0.75F}, {0.5F, 0.5F}, {1e-6F, 0.999999F}}}});
  translation.n_best.push_back({"",
                                {.words = {0},
                                 .word_scores = {-100},
                                 .log_probability = -100,
                                 .score = -100,
                                 .alignment = {{0.1F, 0.9F}}}});
  return translation;
}

TEST(OutputFormat, PrintsTheBestAlone) {
  EXPECT_EQ(format_translation(3, two_hypotheses(), {}), "a b\n");
}

TEST(OutputFormat, PrintsWordScoresWithFiveDecimals) {
  EXPECT_EQ(format_translation(3, two_hypotheses(), {.word_scores = true}),
            "a b ||| WordScores= -0.50000 -0.25000 -0.00001\n");
}

TEST(OutputFormat, PrintsNumbersOfNBestListsWithSixDigits) {
  EXPECT_EQ(format_translation(3, two_hypotheses(), {.n_best = true}),
            "3 ||| a b ||| F0= -12.3457 ||| -0.000123457\n3 |||  ||| F0= -100 ||| -100\n");
}

TEST(OutputFormat, PrintsEverythingInTheOrderOfMarian) {
  EXPECT_EQ(
      format_translation(0, two_hypotheses(),
                         {.n_best = true, .word_scores = true, .alignment = AlignmentFormat{}}),
      "0 ||| a b ||| 0-1 1-0 1-2 ||| WordScores= -0.50000 -0.25000 -0.00001 ||| F0= -12.3457 "
      "||| -0.000123457\n0 |||  ||| 1-0 ||| WordScores= -100.00000 ||| F0= -100 ||| -100\n");
}

TEST(OutputFormat, PrintsAlignments) {
  const std::vector<std::vector<float>> weights = {
      {0.25F, 0.75F}, {0.5F, 0.5F}, {1e-6F, 0.999999F}};
  EXPECT_EQ(format_alignment(weights, parse_alignment_format("hard")), "0-1 1-0 1-2");
  EXPECT_EQ(format_alignment(weights, parse_alignment_format("")), "0-1 1-0 1-2");
  EXPECT_EQ(format_alignment(weights, parse_alignment_format("1")), "0-1 1-0 1-2");
  EXPECT_EQ(format_alignment(weights, parse_alignment_format("0.3")), "0-1 1-0 1-1 1-2");
  EXPECT_EQ(format_alignment(weights, parse_alignment_format("soft")),
            "0.25,0.75 0.5,0.5 1e-06,0.999999");
}

TEST(OutputFormat, RefusesOtherAlignments) {
  for (const char* text : {"loud", "2", "0", "-1", "0.5x", "nan"})
    EXPECT_THROW(parse_alignment_format(text), Error) << text;
}

TEST(OutputFormat, PrintsScoresWithSixDecimals) {
  const PairScore score{.word_scores = {-1, -2.5F}, .log_probability = -3.5F, .score = -1.75F};
  EXPECT_EQ(format_score(score, {}), "-1.750000\n");
  EXPECT_EQ(format_score(score, {.word_scores = true}),
            "-1.750000 ||| WordScores= -1.00000 -2.50000\n");
}

}  // namespace
}  // namespace fuselage
