#include "fuselage/decoding/output_format.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

using ::testing::HasSubstr;

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

/// Copied from a source, for example.
TEST(OutputFormat, KeepsSeparatorsOutOfFields) {
  Translation translation;
  translation.n_best.push_back(
      {"||| a || b ||| c||||d |", {.word_scores = {-1}, .log_probability = -1, .score = -1}});
  const std::string escaped =
      "&#124;&#124;&#124; a || b &#124;&#124;&#124; c&#124;&#124;&#124;&#124;d |";
  EXPECT_EQ(format_translation(0, translation, {.n_best = true}),
            "0 ||| " + escaped + " ||| F0= -1 ||| -1\n");
  EXPECT_EQ(format_translation(0, translation, {.word_scores = true}),
            escaped + " ||| WordScores= -1.00000\n");
  EXPECT_EQ(format_translation(0, translation, {}), "||| a || b ||| c||||d |\n") << "no fields";
  EXPECT_THAT(format_translation(0, translation, {.n_best = true, .json = true}),
              HasSubstr("||| a || b ||| c||||d |"));
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
  EXPECT_EQ(format_score(0, score, {}), "-1.750000\n");
  EXPECT_EQ(format_score(0, score, {.word_scores = true}),
            "-1.750000 ||| WordScores= -1.00000 -2.50000\n");
}

TEST(JsonLine, HasTheKeysThatAreAskedFor) {
  const Translation translation{.n_best = {{"a \"b\"\xff",
                                            {.word_scores = {-0.5F, -0.1F},
                                             .log_probability = -0.6F,
                                             .score = -0.3F,
                                             .alignment = {{0.25F, 0.75F}, {1, 0}}}},
                                           {"", {.log_probability = -2, .score = -1}}}};
  EXPECT_EQ(format_translation(3, translation, {.json = true}),
            "{\"line\":3,\"text\":\"a \\\"b\\\"\xEF\xBF\xBD\",\"score\":-0.3,"
            "\"log_probability\":-0.6}\n");
  EXPECT_EQ(
      format_translation(0, translation, {.n_best = true, .json = true}),
      "{\"line\":0,\"translations\":[{\"text\":\"a \\\"b\\\"\xEF\xBF\xBD\",\"score\":-0.3,"
      "\"log_probability\":-0.6},{\"text\":\"\",\"score\":-1.0,\"log_probability\":-2.0}]}\n");
  const OutputFormat hard{.word_scores = true, .json = true, .alignment = AlignmentFormat{}};
  EXPECT_THAT(format_translation(0, translation, hard),
              HasSubstr("\"word_scores\":[-0.5,-0.1],\"alignment\":[[0,1],[1,0]]}"));
  const OutputFormat soft{.json = true, .alignment = AlignmentFormat{.soft = true}};
  EXPECT_THAT(format_translation(0, translation, soft),
              HasSubstr("\"alignment\":[[0.25,0.75],[1.0,0.0]]}"));
}

TEST(JsonLine, HasTheScoresOfAPair) {
  const PairScore score{.word_scores = {-1, -2}, .log_probability = -3, .score = -1.5F};
  EXPECT_EQ(format_score(7, score, {.word_scores = true, .json = true}),
            "{\"line\":7,\"score\":-1.5,\"log_probability\":-3.0,\"word_scores\":[-1.0,-2.0]}\n");
}

}  // namespace
}  // namespace fuselage
