// Small trained models against what marian-decoder and marian-scorer printed for them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/marian_output.h"
#include "tests/decoding/support.h"

namespace fuselage::conformance_test {
namespace {

using support::fields_of;
using support::lines_of;
using support::numbers_of;

constexpr double kTolerance = 1e-3;
/// Hypotheses whose scores differ by less may change places.
constexpr double kTie = 2e-4;
constexpr std::size_t kReferenceLines = 5;

void expect_near(const std::string& actual, const std::string& expected) {
  const auto a = numbers_of(actual);
  const auto e = numbers_of(expected);
  ASSERT_EQ(a.size(), e.size()) << actual << "\n" << expected;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], e[i], kTolerance) << actual << "\n" << expected;
}

TranslatorOptions marian_options(const CompileOptions& compile, std::int32_t beam_size) {
  TranslatorOptions options;
  options.compile = compile;
  options.beam_size = beam_size;
  options.max_length_factor = 2;
  options.vocabularies.paths = support::vocabularies();
  return options;
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  std::string file(const std::string& name) const {
    return support::conformance_case(GetParam()) + "/" + name;
  }
  std::vector<std::string> lines(const std::string& name) const {
    return lines_of(read_file(file(name)));
  }
  Model model() const { return load_model(file("model.npz")); }

  std::vector<std::string> translate(const TranslatorOptions& options, const OutputFormat& format,
                                     std::size_t count) const {
    std::vector<std::string> input = lines("input.sp.en");
    if (input.size() > count) input.resize(count);
    const Translator translator(model(), options);
    std::string output;
    std::size_t number = 0;
    for (const Translation& translation : translator.translate(input))
      output += format_translation(number++, translation, format);
    return lines_of(output);
  }

  std::vector<std::string> score(const CompileOptions& compile, const std::string& sources,
                                 const std::string& targets) const {
    ScorerOptions options;
    options.compile = compile;
    options.vocabularies.paths = support::vocabularies();
    options.batches.mini_batch = 7;
    const Scorer scorer(model(), options);
    std::istringstream source(sources), target(targets);
    std::string output;
    scorer.score(source, target, [&](std::size_t line, PairScore&& pair) {
      output += format_score(line, pair, {.word_scores = true});
    });
    return lines_of(output);
  }

  void check_greedy(const CompileOptions& compile, std::size_t count) const {
    const auto actual = translate(marian_options(compile, 1), {.word_scores = true}, count);
    const auto expected = lines("expected.greedy.txt");
    ASSERT_EQ(actual.size(), std::min(count, expected.size()));
    for (std::size_t i = 0; i < actual.size(); ++i) {
      EXPECT_EQ(fields_of(actual[i])[0], fields_of(expected[i])[0]) << "line " << i + 1;
      expect_near(fields_of(actual[i])[1], fields_of(expected[i])[1]);
    }
  }

  void check_scores(const CompileOptions& compile, std::size_t count) const {
    std::string sources, targets;
    const auto input = lines("input.sp.en");
    const auto reference = lines("ref.sp.de");
    const auto expected = lines("expected.score.txt");
    count = std::min(count, input.size());
    for (std::size_t i = 0; i < count; ++i) {
      sources += input[i] + "\n";
      targets += reference[i] + "\n";
    }
    const auto actual = score(compile, sources, targets);
    ASSERT_EQ(actual.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      expect_near(fields_of(actual[i])[0], fields_of(expected[i])[0]);
      expect_near(fields_of(actual[i])[1], fields_of(expected[i])[1]);
    }
  }

  void check_n_best(const CompileOptions& compile) const {
    const auto actual = translate(marian_options(compile, 6), {.n_best = true}, 1000);
    const auto expected = lines("expected.beam6.nbest.txt");
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const auto a = fields_of(actual[i]);
      const auto e = fields_of(expected[i]);
      ASSERT_EQ(a.size(), 4u);
      EXPECT_EQ(a[0], e[0]);
      expect_near(a[2], e[2]);
      expect_near(a[3], e[3]);
      if (a[1] == e[1]) continue;
      const auto tied = [&](std::size_t j) {
        return j < expected.size() && fields_of(expected[j])[1] == a[1] &&
               std::abs(std::stod(fields_of(expected[j])[3]) - std::stod(a[3])) < kTie;
      };
      EXPECT_TRUE(tied(i + 1) || tied(i - 1)) << "line " << i + 1 << "\n" << actual[i];
    }
  }

 private:
  std::string folder_;
};

/// Models that the reference also decodes; its decoder and scorer disagree on pre-norm ones.
class DecodingConformance : public Conformance {};

TEST_P(DecodingConformance, Greedy) { check_greedy({}, 1000); }

TEST_P(DecodingConformance, GreedyWithoutPasses) { check_greedy({.passes = "none"}, 1000); }

TEST_P(DecodingConformance, GreedyByInterpreter) {
  check_greedy({.backend = "reference"}, kReferenceLines);
}

TEST_P(DecodingConformance, NBestLists) { check_n_best({}); }

TEST_P(DecodingConformance, NBestListsWithoutPasses) { check_n_best({.passes = "none"}); }

TEST_P(DecodingConformance, NormalizedInSortedBatches) {
  TranslatorOptions options = marian_options({}, 6);
  options.normalize = 0.6F;
  options.batches = {.mini_batch = 16, .maxi_batch = 10, .maxi_batch_sort = MaxiBatchSort::src};
  EXPECT_EQ(translate(options, {}, 1000), lines("expected.beam6.norm06.txt"));
}

TEST_P(DecodingConformance, ScoringAgreesWithDecoding) {
  const auto decoded = translate(marian_options({}, 1), {.word_scores = true}, 1000);
  const auto input = lines("input.sp.en");
  std::string sources, targets;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    sources += input[i] + "\n";
    targets += fields_of(decoded[i])[0] + "\n";
  }
  const auto scored = score({}, sources, targets);
  ASSERT_EQ(scored.size(), decoded.size());
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    auto from_search = numbers_of(fields_of(decoded[i])[1]);
    auto from_scorer = numbers_of(fields_of(scored[i])[1]);
    // A translation that the length limit cut has no end symbol; its text has.
    ASSERT_LE(from_search.size(), from_scorer.size());
    for (std::size_t j = 0; j < from_search.size(); ++j)
      EXPECT_NEAR(from_search[j], from_scorer[j], 2e-5) << "line " << i + 1;
  }
}

TEST_P(Conformance, Scores) { check_scores({}, 1000); }

TEST_P(Conformance, ScoresWithoutPasses) { check_scores({.passes = "none"}, 1000); }

TEST_P(Conformance, ScoresByInterpreter) {
  check_scores({.backend = "reference"}, kReferenceLines);
}

// On a GPU, or on what stands in for one: few lines then, as that is slow.

std::size_t cuda_lines() { return support::emulates_cuda() ? 4 : 1000; }

class CudaDecodingConformance : public Conformance {
 protected:
  void SetUp() override {
    if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
    Conformance::SetUp();
  }
};
class CudaConformance : public CudaDecodingConformance {};

TEST_P(CudaDecodingConformance, Greedy) { check_greedy({.backend = "cuda"}, cuda_lines()); }

TEST_P(CudaDecodingConformance, GreedyWithoutPasses) {
  check_greedy({.backend = "cuda", .passes = "none"}, kReferenceLines);
}

TEST_P(CudaDecodingConformance, NormalizedInSortedBatches) {
  TranslatorOptions options = marian_options({.backend = "cuda"}, 6);
  options.normalize = 0.6F;
  options.batches = {.mini_batch = 16, .maxi_batch = 10, .maxi_batch_sort = MaxiBatchSort::src};
  auto expected = lines("expected.beam6.norm06.txt");
  expected.resize(std::min(expected.size(), cuda_lines()));
  EXPECT_EQ(translate(options, {}, cuda_lines()), expected);
}

TEST_P(CudaConformance, Scores) { check_scores({.backend = "cuda"}, cuda_lines()); }

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const auto kDecoded =
    ::testing::Values("s2s-basic", "s2s-deep-ln", "amun", "nematus", "transformer-post",
                      "transformer-ssru", "transformer-deepssru");
const auto kScored =
    ::testing::Values("s2s-basic", "s2s-deep-ln", "amun", "nematus", "transformer-post",
                      "transformer-pre", "transformer-ssru", "transformer-deepssru");

INSTANTIATE_TEST_SUITE_P(Cases, DecodingConformance, kDecoded, test_name);
INSTANTIATE_TEST_SUITE_P(Cases, Conformance, kScored, test_name);
INSTANTIATE_TEST_SUITE_P(Cases, CudaDecodingConformance, kDecoded, test_name);
INSTANTIATE_TEST_SUITE_P(Cases, CudaConformance, kScored, test_name);

}  // namespace
}  // namespace fuselage::conformance_test
