// Teacher-forced scores of small trained models against those of marian-scorer.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/reference/interpreter.h"
#include "models/marian_loader.h"
#include "text/vocabulary.h"

namespace fuselage {
namespace {

const std::string kConformance = FUSELAGE_SOURCE_DIR "/../shared/conformance";

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct Score {
  double total = 0;
  std::vector<double> words;
};

/// "-26.988430 ||| WordScores= -0.01399 …".
Score parse_score(const std::string& line) {
  Score score;
  std::istringstream in(line);
  std::string separator, label;
  in >> score.total >> separator >> label;
  for (double word; in >> word;) score.words.push_back(word);
  return score;
}

double log_probability(const float* logits, std::int64_t size, std::int32_t word) {
  const double max = *std::max_element(logits, logits + size);
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += std::exp(logits[i] - max);
  return logits[word] - max - std::log(sum);
}

class Scorer {
 public:
  explicit Scorer(const Model& model)
      : graph_(model.graph), frame_(model.graph), interpreter_(model.graph, model.weights) {
    interpreter_.run(BindingTime::load, frame_);
  }

  Score score(const WordIds& source, const WordIds& target) {
    frame_.begin_batch({&source, 1});
    interpreter_.run(BindingTime::source, frame_);
    Score score;
    std::int32_t last = -1;
    for (std::size_t t = 0; t < target.size(); ++t) {
      step(static_cast<std::int32_t>(t), last);
      const Array<float>& logits = interpreter_.value(graph_.find_output("logits"));
      score.words.push_back(log_probability(logits.row(0), logits.cols, target[t]));
      score.total += score.words.back();
      last = target[t];
      check_alignment(source.size());
    }
    return score;
  }

 private:
  void step(std::int32_t number, std::int32_t word) {
    const std::int32_t parent = number == 0 ? -1 : 0;
    const std::int32_t first = 0;
    frame_.begin_step({.parents = {&parent, 1},
                       .parent_sentence = {&first, 1},
                       .hypothesis_parent = {&first, 1},
                       .words = {&word, 1},
                       .positions = {&number, 1}});
    interpreter_.run(BindingTime::step, frame_);
  }

  void check_alignment(std::size_t source_words) {
    const Array<float>& weights = interpreter_.value(graph_.find_output("alignment"));
    ASSERT_EQ(weights.data.size(), source_words);
    double sum = 0;
    for (const float weight : weights.data) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-5);
  }

  const Graph& graph_;
  RowFrame frame_;
  Interpreter<float> interpreter_;
};

class TransformerScores : public testing::TestWithParam<const char*> {};

TEST_P(TransformerScores, MatchTheReference) {
  const std::string folder = kConformance + "/" + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  const Model model = load_marian(folder + "/model.npz");
  const auto vocabulary = load_vocabulary(kConformance + "/vocab.yml");
  const std::vector<std::string> sources = read_lines(folder + "/input.sp.en");
  const std::vector<std::string> targets = read_lines(folder + "/ref.sp.de");
  const std::vector<std::string> scores = read_lines(folder + "/expected.score.txt");
  ASSERT_EQ(sources.size(), 40u);
  ASSERT_EQ(targets.size(), sources.size());
  ASSERT_EQ(scores.size(), sources.size());

  Scorer scorer(model);
  double worst = 0;
  double worst_word = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    SCOPED_TRACE(fmt::format("line {}", i + 1));
    const Score expected = parse_score(scores[i]);
    const Score actual =
        scorer.score(vocabulary->encode(sources[i]), vocabulary->encode(targets[i]));
    EXPECT_NEAR(actual.total, expected.total, 1e-3);
    ASSERT_EQ(actual.words.size(), expected.words.size());
    for (std::size_t w = 0; w < actual.words.size(); ++w) {
      EXPECT_NEAR(actual.words[w], expected.words[w], 1e-4) << "word " << w + 1;
      worst_word = std::max(worst_word, std::abs(actual.words[w] - expected.words[w]));
    }
    worst = std::max(worst, std::abs(actual.total - expected.total));
  }
  RecordProperty("largest_difference", fmt::format("{:.2e}", worst));
  RecordProperty("largest_word_difference", fmt::format("{:.2e}", worst_word));
}

INSTANTIATE_TEST_SUITE_P(Conformance, TransformerScores,
                         testing::Values("transformer-post", "transformer-pre", "transformer-ssru",
                                         "transformer-deepssru"),
                         [](const auto& name) {
                           std::string result = name.param;
                           std::replace(result.begin(), result.end(), '-', '_');
                           return result;
                         });

}  // namespace
}  // namespace fuselage
