// Ensembles of trained models, against the members run on their own.

#include "fuselage/models/architectures/ensemble.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <sstream>

#include "backends/reference/interpreter.h"
#include "base/files/file.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/directory/model_directory.h"
#include "graph/traversal.h"
#include "support.h"

namespace fuselage::ensemble_test {
namespace {

using ::testing::SizeIs;

Model trained(const std::string& name) {
  return load_model(std::string(FUSELAGE_TEST_DATA) + "/" + name + "/model.npz");
}

Model ensemble_of(const std::vector<std::pair<std::string, double>>& members) {
  std::vector<EnsembleMember> loaded;
  for (const auto& [name, weight] : members) loaded.push_back({trained(name), weight, name});
  return make_ensemble(std::move(loaded));
}

const std::vector<WordIds> kSentences = {{17, 400, 999, 3, 0}, {0}, {55, 2, 0}};

/// One step of a recorded search.
struct Step {
  std::vector<std::int32_t> parents, parent_sentence, hypothesis_parent, words, positions;

  StepInput input() const {
    return {parents, parent_sentence, hypothesis_parent, words, positions};
  }
};

/// A search whose hypotheses change places, have several children and die out.
const std::vector<Step> kSteps = {
    {{-1, -1, -1}, {0, 1, 2}, {0, 1, 2}, {-1, -1, -1}, {0, 0, 0}},
    {{0, 1, 2}, {0, 1, 2}, {0, 0, 1, 2, 2, 2}, {7, 300, 12, 5, 999, 41}, {1, 1, 1, 1, 1, 1}},
    {{1, 0, 5, 3}, {0, 0, 2, 2}, {0, 1, 0, 2, 3}, {3, 3, 18, 77, 600}, {2, 2, 2, 2, 2}},
    {{2, 4}, {0, 2}, {0, 1, 1}, {1, 250, 9}, {3, 3, 3}},
    {{1}, {2}, {0}, {44}, {4}},
};

/// What `output` was after each step, in double.
std::vector<Array<double>> run_steps(const Model& model, const std::string& output) {
  Interpreter<double> interpreter(model.graph, model.weights);
  RowFrame frame(model.graph);
  interpreter.run(BindingTime::load, frame);
  frame.begin_batch(kSentences);
  interpreter.run(BindingTime::source, frame);
  std::vector<Array<double>> results;
  for (const Step& step : kSteps) {
    frame.begin_step(step.input());
    interpreter.run(BindingTime::step, frame);
    results.push_back(interpreter.value(model.graph.find_output(output)));
  }
  return results;
}

/// Adds weight × log-softmax of each row of `logits` to `sum`.
void add_log_probabilities(const Array<double>& logits, double weight, std::vector<double>& sum) {
  constexpr std::size_t kWords = 1000;
  ASSERT_EQ(logits.data.size() % kWords, 0u);
  sum.resize(logits.data.size());
  for (std::size_t begin = 0; begin < logits.data.size(); begin += kWords) {
    double total = 0;
    for (std::size_t w = 0; w < kWords; ++w) total += std::exp(logits.data[begin + w]);
    for (std::size_t w = 0; w < kWords; ++w)
      sum[begin + w] += weight * (logits.data[begin + w] - std::log(total));
  }
}

using Members = std::vector<std::pair<std::string, double>>;
class EnsembleOf : public ::testing::TestWithParam<Members> {};

/// Recurrent models and transformers of both kinds, with one vocabulary a side and with two; scans,
/// states and a prefix.
INSTANTIATE_TEST_SUITE_P(
    Members, EnsembleOf,
    ::testing::Values(Members{{"nematus", 1}, {"transformer-post", 1}},
                      Members{{"transformer-post", 0.375}, {"nematus", 2}, {"nematus", -0.5}},
                      Members{{"transformer-ssru", 0.25}, {"transformer-post", 0.75}},
                      Members{{"transformer-ssru", 0.5}, {"transformer-ssru", 0.5}}));

TEST_P(EnsembleOf, AddsWhatItsMembersGiveAlone) {
  std::vector<std::vector<double>> expected(kSteps.size());
  for (const auto& [name, weight] : GetParam()) {
    const std::vector<Array<double>> logits = run_steps(trained(name), "logits");
    for (std::size_t t = 0; t < kSteps.size(); ++t)
      add_log_probabilities(logits[t], weight, expected[t]);
  }
  const Model ensemble = ensemble_of(GetParam());
  const std::vector<Array<double>> actual = run_steps(ensemble, "log_probs");
  for (std::size_t t = 0; t < kSteps.size(); ++t) {
    ASSERT_EQ(actual[t].data.size(), expected[t].size());
    for (std::size_t i = 0; i < expected[t].size(); ++i)
      ASSERT_NEAR(actual[t].data[i], expected[t][i], 1e-9) << "step " << t << " element " << i;
  }
  EXPECT_EQ(run_steps(ensemble, "alignment").back().data,
            run_steps(trained(GetParam()[0].first), "alignment").back().data);
}

/// The same log-probabilities as floats, from a back-end.
std::vector<float> run_back_end(const Model& model, const CompileOptions& options) {
  const auto executable =
      compile(with_search_head(model.graph, SearchHead::log_probabilities), model.weights, options);
  const auto worker = executable->make_worker();
  worker->begin(kSentences, {{3, 3, 3}, {5, 5, 5}});
  std::vector<float> results;
  for (const Step& step : kSteps) {
    worker->step(step.input());
    const OutputRows<float> rows = worker->floats(executable->output("log_probs"));
    results.insert(results.end(), rows.data, rows.data + rows.rows * rows.cols);
  }
  return results;
}

TEST_P(EnsembleOf, RunsAlikeOnAllBackEnds) {
  const Model ensemble = ensemble_of(GetParam());
  const std::vector<float> expected = run_back_end(ensemble, {.backend = "reference"});
  for (const char* passes : {"none", "all"}) {
    const std::vector<float> actual = run_back_end(ensemble, {.passes = passes});
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 2e-4) << passes << ", element " << i;
  }
}

std::vector<Translation> translate(Model model, std::int32_t beam_size, bool skip_cost = false) {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = beam_size;
  options.alignment = true;
  options.skip_cost = skip_cost;
  options.batches.mini_batch = 5;
  const std::vector<std::string> lines = {"▁Tom ▁is ▁a",      "▁I ▁am",       "",
                                          "▁He ▁was ▁the ▁s", "▁We ▁do ▁not", "▁You"};
  return Translator(std::move(model), options).translate(lines);
}

TEST(Ensemble, OfOneModelTwiceAtHalfWeightTranslatesAsItDoes) {
  const auto alone = translate(trained("transformer-post"), 4);
  const auto twice =
      translate(ensemble_of({{"transformer-post", 0.5}, {"transformer-post", 0.5}}), 4);
  ASSERT_EQ(twice.size(), alone.size());
  for (std::size_t s = 0; s < alone.size(); ++s) {
    ASSERT_THAT(twice[s].n_best, SizeIs(alone[s].n_best.size()));
    for (std::size_t h = 0; h < alone[s].n_best.size(); ++h) {
      const Hypothesis& a = alone[s].n_best[h].hypothesis;
      const Hypothesis& b = twice[s].n_best[h].hypothesis;
      EXPECT_EQ(b.words, a.words);
      EXPECT_NEAR(b.score, a.score, 1e-5 * std::max(1.0F, std::abs(a.score)));
      EXPECT_EQ(b.alignment, a.alignment);
    }
  }
}

TEST(Ensemble, TranslatesAlikeWithoutItsCost) {
  const Members members = {{"nematus", 1}, {"transformer-ssru", 0.5}};
  const auto expected = translate(ensemble_of(members), 1);
  const auto actual = translate(ensemble_of(members), 1, true);
  for (std::size_t s = 0; s < expected.size(); ++s)
    EXPECT_EQ(actual[s].n_best[0].text, expected[s].n_best[0].text);
}

/// Lines of n-best lists in marian-decoder's format, fields apart.
std::vector<std::vector<std::string>> read_n_best(const std::string& path) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(read_file(path));
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string>& fields = lines.emplace_back();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(" ||| ", begin), line.size());
      fields.push_back(line.substr(begin, end - begin));
      begin = end + 5;
    }
  }
  return lines;
}

/// n-best lists as recorded from Marian 1.12 (pymarian: weights 0.4 and 0.6, beam-size 6,
/// max-length-factor 2; shortlist 20 20).
TEST(Ensemble, GivesMariansWordsAndScoresOfEachModelWithAndWithoutAShortlist) {
  const std::string folder = std::string(FUSELAGE_TEST_DATA) + "/ensemble/";
  std::istringstream input(read_file(folder + "input.sp.en"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  for (const bool shortlist : {false, true}) {
    TranslatorOptions options{.beam_size = 6, .max_length_factor = 2, .model_scores = true};
    options.vocabularies.paths = support::vocabularies();
    if (shortlist)
      options.shortlist = {.path = folder + "lex.s2t", .limits = {.first = 20, .best = 20}};
    const Translator translator(
        ensemble_of({{"transformer-ssru", 0.4}, {"transformer-deepssru", 0.6}}), options);
    const auto want =
        read_n_best(folder + (shortlist ? "expected.shortlist.nbest.txt" : "expected.nbest.txt"));
    const auto translations = translator.translate(lines);
    std::size_t at = 0;
    for (std::size_t line = 0; line < lines.size(); ++line)
      for (const TranslatedText& text : translations[line].n_best) {
        ASSERT_LT(at, want.size());
        EXPECT_EQ(want[at][0], std::to_string(line));
        EXPECT_EQ(text.text, want[at][1]);
        float first = 0, second = 0;
        ASSERT_EQ(std::sscanf(want[at][2].c_str(), "F0= %f F1= %f", &first, &second), 2);
        ASSERT_THAT(text.hypothesis.model_scores, SizeIs(2));
        EXPECT_NEAR(text.hypothesis.model_scores[0], first, 2e-3);
        EXPECT_NEAR(text.hypothesis.model_scores[1], second, 2e-3);
        EXPECT_NEAR(text.hypothesis.score, std::stof(want[at][3]), 2e-3);
        ++at;
      }
    EXPECT_EQ(at, want.size());
  }
}

TEST(Ensemble, IsAModelDirectoryLikeAnyOther) {
  const support::TemporaryFolder folder;
  const Model ensemble = ensemble_of({{"nematus", 1}, {"transformer-post", 0.5}});
  save_model_directory(ensemble, support::vocabularies(), folder / "model");
  const Model read = load_model(folder / "model");
  EXPECT_TRUE(same_graph(read.graph, ensemble.graph));
  EXPECT_EQ(run_back_end(read, {}), run_back_end(ensemble, {}));
}

}  // namespace
}  // namespace fuselage::ensemble_test
