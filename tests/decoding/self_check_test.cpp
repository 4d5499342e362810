// Models against their own probe sentences.

#include "fuselage/decoding/self_check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/files/file.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/random_lines.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/directory/model_directory.h"
#include "tests/decoding/marian_output.h"
#include "tests/decoding/support.h"
#include "tests/language_model.h"
#include "tests/temporary_folder.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

Model model_with_vocabularies(const std::string& name = "transformer-ssru") {
  Model model = load_model(support::conformance_case(name) + "/model.npz");
  model.vocabularies = support::vocabularies();
  return model;
}

Model model_with_probes() {
  Model model = model_with_vocabularies();
  model.probes = make_probes(model);
  return model;
}

std::vector<std::string> lines_of_case(const std::string& file) {
  auto lines = support::lines_of(read_file(support::conformance_case("transformer-ssru") + file));
  lines.resize(5);
  return lines;
}

TEST(SelfCheck, MakesTheSameLinesAgain) {
  const Model model = model_with_vocabularies();
  const Probes probes = make_probes(model);
  ASSERT_EQ(probes.lines.size(), 8U);
  EXPECT_EQ(probes, make_probes(model));
  EXPECT_FALSE(probes.rounded);
  EXPECT_NE(probes.lines[0].line, probes.lines[1].line);
  for (const Probe& probe : probes.lines) {
    EXPECT_EQ(probe.line.find('<'), std::string::npos) << probe.line;
    EXPECT_EQ(probe.words.size(), probe.scores.size());
    EXPECT_TRUE(std::ranges::all_of(probe.scores, [](float score) { return score <= 0; }));
  }
}

TEST(SelfCheck, ItsWordsAreTheGreedyTranslation) {
  const Model model = model_with_vocabularies();
  const std::vector<std::string> lines = lines_of_case("/input.sp.en");
  const Probes probes = make_probes(model, lines);
  const auto translations =
      Translator(model, {.beam_size = 1, .max_length_factor = 2}).translate(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(probes.lines[i].line, lines[i]);
    EXPECT_EQ(probes.lines[i].words, translations[i].n_best[0].hypothesis.words);
    EXPECT_EQ(probes.lines[i].text, translations[i].text());
  }
}

TEST(SelfCheck, PassesInEveryPrecision) {
  const Model model = model_with_probes();
  for (const char* backend : {"cpu", "reference"}) {
    const CheckResult same = check_probes(model, {.compile = {.backend = backend}});
    EXPECT_THAT(same.failures(), IsEmpty());
    EXPECT_EQ(same.same_words(), 8U);
    EXPECT_LT(same.largest_drift, 1e-5);
  }
  double drift = 0;
  for (const Precision precision : {Precision::int16, Precision::bf16, Precision::int8}) {
    const CheckResult result = check_probes(model, {.compile = {.precision = precision}});
    EXPECT_THAT(result.failures(), IsEmpty()) << to_string(precision);
    EXPECT_GT(result.mean_drift, drift);
    EXPECT_LE(result.mean_drift, result.largest_drift);
    drift = result.mean_drift;
  }
}

TEST(SelfCheck, FailsForOtherWeights) {
  Model model = model_with_probes();
  Tensor& weights = model.weights.at("encoder_l1_ffn_W1");
  Tensor changed(DType::f32, weights.shape());
  for (std::int64_t i = 0; i < weights.size(); ++i)
    changed.mutable_data<float>()[i] = weights.data<float>()[i] * 1.01f;
  weights = changed;
  EXPECT_THAT(check_probes(model).failures(), ::testing::Contains(HasSubstr("drifts by")));
  // It is as far away as products in int8 are.
  EXPECT_THAT(check_probes(model, {.compile = {.precision = Precision::int8}}).failures(),
              IsEmpty());
}

TEST(SelfCheck, OtherWordsNeedATie) {
  Model model = model_with_probes();
  Probe& probe = model.probes.lines[0];
  EXPECT_EQ(check_probes(model).probes[0].lead, 0);
  probe.words[0] = probe.words[0] == 20 ? 21 : 20;
  const CheckResult result = check_probes(model);
  EXPECT_FALSE(result.probes[0].same_words);
  EXPECT_FALSE(result.probes[0].same_text);
  EXPECT_GT(result.probes[0].lead, 0.01);
  EXPECT_THAT(result.failures(), ::testing::Contains(HasSubstr("no tie explains it")));
  probe = model.probes.lines[1];
  probe.words.push_back(probe.words.back());
  probe.scores.push_back(0);
  EXPECT_TRUE(std::isinf(check_probes(model).probes[0].lead));
}

TEST(SelfCheck, RefusesProbesOfOthers) {
  Model model = model_with_vocabularies();
  EXPECT_THAT([&] { check_probes(model); }, ThrowsMessage<Error>(HasSubstr("no probe sentences")));
  model.probes.lines = {{.line = "a", .words = {1000}, .scores = {-1}, .text = "a"}};
  EXPECT_THAT([&] { check_probes(model); }, ThrowsMessage<Error>(HasSubstr("the word 1000")));
  EXPECT_THAT([&] { bisect_probes(model); }, ThrowsMessage<Error>(HasSubstr("the word 1000")));
  EXPECT_THAT([&] { make_probes(model, std::vector<std::string>(201, "a")); },
              ThrowsMessage<Error>(HasSubstr("at most 200")));
  EXPECT_THAT(
      [&] {
        make_probes(model, {"a", ""});
      },
      ThrowsMessage<Error>(HasSubstr("probe sentence 2 has no words")));
}

TEST(SelfCheck, DirectoriesKeepProbes) {
  const support::TemporaryFolder folder;
  const Model model = model_with_probes();
  save_model_directory(model, support::vocabularies(), folder / "model");
  const Model loaded = load_model(folder / "model");
  EXPECT_EQ(loaded.probes, model.probes);
  EXPECT_THAT(check_probes(loaded).failures(), IsEmpty());
  save_model_directory(model, support::vocabularies(), folder / "model", {.half = true});
  const Model half = load_model(folder / "model");
  EXPECT_TRUE(half.probes.rounded);
  EXPECT_EQ(half.probes.lines, model.probes.lines);
  const CheckResult result = check_probes(half);
  EXPECT_THAT(result.failures(), IsEmpty());
  EXPECT_GT(result.largest_drift, 1e-5);
  EXPECT_THAT([&] { save_model_directory(model, {folder / "probes.json"}, folder / "other"); },
              ThrowsMessage<Error>(HasSubstr("cannot be called probes.json")));
  // A directory without probes does not keep those of the one that it replaces.
  save_model_directory(model_with_vocabularies(), support::vocabularies(), folder / "model");
  EXPECT_THAT(load_model(folder / "model").probes.lines, IsEmpty());
}

TEST(SelfCheck, LimitsFollowTheFewestBits) {
  Model model = model_with_probes();
  const auto mean = [&](Precision precision, Activations activations = Activations::exact) {
    return check_limits(model, {.precision = precision, .activations = activations}).mean_drift;
  };
  EXPECT_EQ(mean(Precision::fp32), 1e-3);
  EXPECT_EQ(mean(Precision::fp32, Activations::table), 0.05);
  EXPECT_EQ(mean(Precision::int8, Activations::table), 0.2);
  EXPECT_EQ(check_limits(model, {.precision = Precision::fp32,
                                 .activations = Activations::exact,
                                 .kv_cache = KvCache::int8})
                .mean_drift,
            0.2);
  EXPECT_LT(mean(Precision::bf16), mean(Precision::int8));
  EXPECT_LT(mean(Precision::int8), mean(Precision::int4_log));
  model.probes.rounded = true;
  EXPECT_EQ(mean(Precision::fp32), 0.05);
  model.weights.begin()->second = Tensor(DType::qint8, {1, 4});
  EXPECT_EQ(mean(Precision::fp32), 0.2);
  // Integers of which the probes were made.
  model.probes.rounded = false;
  EXPECT_EQ(mean(Precision::fp32), 1e-3);
  EXPECT_EQ(mean(Precision::int16), 0.2);
}

TEST(SelfCheck, ChoosesPrecisions) {
  Model model = model_with_vocabularies();
  EXPECT_THAT(precisions_to_check(model), ElementsAre(Precision::fp32));
  model.decode.precision = Precision::bf16;
  EXPECT_THAT(precisions_to_check(model), ElementsAre(Precision::fp32, Precision::bf16));
  model.weights.begin()->second = Tensor(DType::qint8, {1, 4});
  EXPECT_THAT(precisions_to_check(model), ElementsAre(Precision::bf16));
}

TEST(SelfCheck, TranslationsTellWhetherVocabulariesFit) {
  const support::TemporaryFolder folder;
  const Model model = model_with_vocabularies();
  const auto sources = lines_of_case("/input.sp.en"), targets = lines_of_case("/ref.sp.de");
  EXPECT_GT(gain_from_source(model, sources, targets), kLeastGain);
  // The words of another language have other numbers.
  std::vector<std::string> words = support::lines_of(read_file(support::vocabularies()[0]));
  std::vector<std::string> numbers;
  for (const std::string& word : words) numbers.push_back(word.substr(word.rfind(' ')));
  std::reverse(numbers.begin() + 2, numbers.end());
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += words[i].substr(0, words[i].rfind(' ')) + numbers[i] + "\n";
  write_file_atomically(folder / "other.yml", text);
  const std::string own = support::vocabularies()[0], other = folder / "other.yml";
  EXPECT_LT(gain_from_source(model, sources, targets, {.paths = {other, own}}), kLeastGain);
  EXPECT_LT(gain_from_source(model, sources, targets, {.paths = {own, other}}), kLeastGain);
  EXPECT_THAT([&] { gain_from_source(model, {"a"}, {"b"}); },
              ThrowsMessage<Error>(HasSubstr("give two or more")));
}

TEST(SelfCheck, LanguageModelsContinueTheLines) {
  const support::TemporaryFolder folder;
  Model model = support::make_language_model(folder / "words.txt");
  model.probes = make_probes(model, {"the sky", ""});
  EXPECT_FALSE(model.probes.lines[1].words.empty());
  EXPECT_THAT(check_probes(model).failures(), IsEmpty());
  EXPECT_FALSE(bisect_probes(model).comparison.difference);
  EXPECT_EQ(make_probes(model).lines.size(), 8U);
  model.right_left = true;
  EXPECT_THAT([&] { make_probes(model); }, ThrowsMessage<Error>(HasSubstr("right to left")));
}

TEST(SelfCheck, NodesAreTheInterpretersInEveryPrecision) {
  for (const char* name : {"transformer-post", "transformer-pre", "s2s-deep-ln"}) {
    Model model = model_with_vocabularies(name);
    model.probes = make_probes(model);
    for (const Precision precision :
         {Precision::fp32, Precision::bf16, Precision::int8, Precision::int4}) {
      const Bisection found = bisect_probes(model, {.compile = {.precision = precision}});
      EXPECT_FALSE(found.comparison.difference)
          << name << " " << to_string(precision) << " " << found.comparison.difference->node;
      EXPECT_GT(found.comparison.compared, 50U);
    }
    // Without a tolerance, the first step in which anything differs.
    const Bisection found = bisect_probes(model, {}, NodeTolerances::all(0));
    ASSERT_TRUE(found.comparison.difference);
    EXPECT_EQ(found.steps, 1U);
    EXPECT_FALSE(found.comparison.difference->node.empty());
  }
}

TEST(SelfCheckOnTheDevice, IsTheSame) {
  if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
  Model model = model_with_vocabularies();
  model.probes = make_probes(model);
  model.probes.lines.resize(2);
  const CheckResult result = check_probes(model, {.compile = {.backend = "cuda"}});
  EXPECT_THAT(result.failures(), IsEmpty());
}

TEST(RandomLines, HaveAFieldForEachText) {
  const support::TemporaryFolder folder;
  write_file_atomically(folder / "a", "</s>\n<unk>\n[MASK]\n>>deu<<\na\n<\n");
  write_file_atomically(folder / "b", "</s>\n<unk>\nb\n");
  VocabularyPair pair;
  pair.source = load_vocabulary(folder / "a");
  pair.further_sources.push_back(load_vocabulary(folder / "b"));
  for (const std::string& line : random_lines(pair, 20)) {
    const std::size_t tab = line.find('\t');
    ASSERT_NE(tab, std::string::npos);
    EXPECT_THAT(line.substr(0, tab), ::testing::MatchesRegex("[a<]( [a<]){4,19}"));
    EXPECT_EQ(line.substr(tab + 1).size(), tab);
    EXPECT_THAT(line.substr(tab + 1), ::testing::MatchesRegex("b( b){4,19}"));
  }
  write_file_atomically(folder / "a", "</s>\n<unk>\n");
  pair.source = load_vocabulary(folder / "a");
  EXPECT_THAT([&] { random_lines(pair, 1); }, ThrowsMessage<Error>(HasSubstr("no words")));
}

}  // namespace
}  // namespace fuselage
