#include "fuselage/decoding/generator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"
#include "tests/language_model.h"

namespace fuselage::generator_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr std::int32_t kEnd = 0, kUnknown = 1;

const std::vector<std::string> kPrompts{"a rose is",     "",         "the",
                                        "the sky is so", "red",      "a rose is a rose is a rose",
                                        "nonsense is",   "so so so", "the sky and the rose"};

class GeneratorTest : public ::testing::Test {
 protected:
  Model model() const { return support::make_language_model(folder_ / "words.txt"); }

 private:
  support::TemporaryFolder folder_;
};

/// All numbers of generations, to the last digit.
std::string show(const std::vector<Generation>& generations) {
  std::string text;
  for (std::size_t i = 0; i < generations.size(); ++i) {
    text += format_generation(i, generations[i], {.n_best = true});
    for (const Continuation& entry : generations[i].continuations)
      for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
  }
  return text;
}

// --- An independent search: the interpreter, run from the first word on for each hypothesis. ---

class PlainSearch {
 public:
  explicit PlainSearch(const Model& model)
      : executable_(compile(with_search_head(model.graph, SearchHead::log_probabilities),
                            model.weights, {.backend = "reference", .passes = "none"})),
        worker_(executable_->make_worker()) {}

  struct Text {
    std::vector<std::int32_t> words;  ///< after the prompt
    std::vector<float> scores;
    float sum = 0;
  };

  /// Log-probabilities of the word that follows `words`.
  std::vector<float> next(const std::vector<std::int32_t>& words) {
    const std::vector<WordIds> sentences(1);
    worker_->begin(sentences, {{1}, {static_cast<std::int32_t>(words.size()) + 1}});
    for (std::size_t t = 0; t <= words.size(); ++t) {
      const std::vector<std::int32_t> parent{t == 0 ? -1 : 0}, zero{0},
          word{t == 0 ? -1 : words[t - 1]}, position{static_cast<std::int32_t>(t)};
      worker_->step({parent, zero, zero, word, position});
    }
    const auto row = worker_->floats(executable_->output(kLogProbs)).row(0);
    return {row.begin(), row.end()};
  }

  /// Beam search as in the documentation of BeamSearch, best first.
  std::vector<Text> search(const std::vector<std::int32_t>& prompt, std::size_t beam,
                           std::size_t limit) {
    std::vector<Text> live(1), done;
    for (std::size_t length = 1; !live.empty(); ++length) {
      std::vector<Text> candidates;
      for (const Text& text : live) extend(prompt, text, candidates);
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const Text& a, const Text& b) { return a.sum > b.sum; });
      candidates.resize(std::min(candidates.size(), length == 1 ? beam : live.size()));
      live.clear();
      for (const Text& text : candidates)
        (text.words.back() == kEnd || length == limit ? done : live).push_back(text);
    }
    std::stable_sort(done.begin(), done.end(),
                     [](const Text& a, const Text& b) { return a.sum > b.sum; });
    return done;
  }

 private:
  void extend(const std::vector<std::int32_t>& prompt, const Text& text,
              std::vector<Text>& candidates) {
    std::vector<std::int32_t> words = prompt;
    words.insert(words.end(), text.words.begin(), text.words.end());
    const std::vector<float> scores = next(words);
    for (std::size_t word = 0; word < scores.size(); ++word) {
      if (word == kUnknown) continue;
      Text longer = text;
      longer.words.push_back(static_cast<std::int32_t>(word));
      longer.scores.push_back(scores[word]);
      longer.sum += scores[word];
      candidates.push_back(std::move(longer));
    }
  }

  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Worker> worker_;
};

std::vector<std::int32_t> ids_of(const std::string& text) {
  std::vector<std::int32_t> ids;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const auto& words = support::language_model_words();
    const auto found = std::find(words.begin(), words.end(), word);
    ids.push_back(found == words.end() ? kUnknown
                                       : static_cast<std::int32_t>(found - words.begin()));
  }
  return ids;
}

std::string text_of(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids)
    if (id != kEnd)
      text +=
          (text.empty() ? "" : " ") + support::language_model_words()[static_cast<std::size_t>(id)];
  return text;
}

class GeneratorOn : public GeneratorTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "cuda") return;
    if (const auto reason = support::why_no_cuda()) GTEST_SKIP() << *reason;
  }
};

TEST_P(GeneratorOn, FollowsAnIndependentSearch) {
  PlainSearch plain(model());
  for (const std::int32_t beam : {1, 3}) {
    const Generator generator(
        model(), {.beam_size = beam, .max_new_tokens = 6, .compile = {.backend = GetParam()}});
    const std::vector<Generation> generations = generator.generate(kPrompts);
    ASSERT_EQ(generations.size(), kPrompts.size());
    for (std::size_t i = 0; i < kPrompts.size(); ++i) {
      SCOPED_TRACE(kPrompts[i]);
      const auto expected = plain.search(ids_of(kPrompts[i]), static_cast<std::size_t>(beam), 6);
      const auto& found = generations[i].continuations;
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t j = 0; j < found.size(); ++j) {
        EXPECT_EQ(found[j].hypothesis.words, expected[j].words);
        EXPECT_EQ(found[j].text, text_of(expected[j].words));
        EXPECT_THAT(found[j].hypothesis.word_scores,
                    Pointwise(FloatNear(1e-4f), expected[j].scores));
        EXPECT_NEAR(found[j].hypothesis.log_probability, expected[j].sum, 1e-4);
        EXPECT_EQ(found[j].hypothesis.score, found[j].hypothesis.log_probability);
      }
      EXPECT_EQ(generations[i].prompt_words, ids_of(kPrompts[i]).size());
    }
  }
}

TEST_P(GeneratorOn, GivesAPromptTheSameBytesInAnyBatch) {
  GeneratorOptions options{
      .beam_size = 3, .max_new_tokens = 12, .compile = {.backend = GetParam()}};
  options.batches.mini_batch = 1;
  const std::string expected = show(Generator(model(), options).generate(kPrompts));
  for (const std::size_t size : {2, 4, 64}) {
    options.batches.mini_batch = size;
    options.threads = size == 4 ? 3 : 1;
    const Generator generator(model(), options);
    EXPECT_EQ(show(generator.generate(kPrompts)), expected);
    std::vector<Generation> alone;
    for (const std::string& prompt : kPrompts) alone.push_back(generator.generate(prompt));
    EXPECT_EQ(show(alone), expected);
  }
}

TEST_P(GeneratorOn, GivesTheScoresOfAScorer) {
  const Generator generator(model(), {.beam_size = 2,
                                      .max_new_tokens = 8,
                                      .include_prompt = true,
                                      .compile = {.backend = GetParam()}});
  const Scorer scorer(model(), {.compile = {.backend = GetParam()}});
  for (const std::string& prompt : kPrompts)
    for (const Continuation& entry : generator.generate(prompt).continuations) {
      // The scorer reads the unknown word as such, and adds an end symbol where the limit cut.
      const PairScore score = scorer.score(entry.text);
      const Hypothesis& hypothesis = entry.hypothesis;
      const std::size_t words = ids_of(prompt).size();
      ASSERT_GE(score.word_scores.size(), words + hypothesis.words.size());
      float sum = 0;
      for (std::size_t i = 0; i < hypothesis.words.size(); ++i) {
        EXPECT_NEAR(score.word_scores[words + i], hypothesis.word_scores[i], 1e-5) << entry.text;
        sum += hypothesis.word_scores[i];
      }
      EXPECT_EQ(hypothesis.log_probability, sum);
    }
}

INSTANTIATE_TEST_SUITE_P(BackEnds, GeneratorOn, ::testing::Values("reference", "cpu", "cuda"),
                         [](const auto& backend) { return backend.param; });

TEST_F(GeneratorTest, ScoresTextsAsTheInterpreterDoes) {
  PlainSearch plain(model());
  const Scorer scorer(model(), {.normalize = 1});
  const std::vector<PairScore> scores = scorer.score(kPrompts);
  ASSERT_EQ(scores.size(), kPrompts.size());
  for (std::size_t i = 0; i < kPrompts.size(); ++i) {
    std::vector<std::int32_t> words = ids_of(kPrompts[i]), before;
    words.push_back(kEnd);
    ASSERT_EQ(scores[i].word_scores.size(), words.size());
    float sum = 0;
    for (std::size_t t = 0; t < words.size(); ++t) {
      const float expected = plain.next(before)[static_cast<std::size_t>(words[t])];
      EXPECT_NEAR(scores[i].word_scores[t], expected, 1e-4);
      sum += expected;
      before.push_back(words[t]);
    }
    EXPECT_NEAR(scores[i].log_probability, sum, 1e-3);
    EXPECT_NEAR(scores[i].score, sum / static_cast<float>(words.size()), 1e-3);
    EXPECT_EQ(scores[i].source_words, words.size());
  }
  std::string all;
  for (const std::string& prompt : kPrompts) all += prompt + "\n";
  std::istringstream input(all);
  std::size_t lines = 0;
  scorer.score(input, [&](std::size_t line, PairScore&& score) {
    EXPECT_EQ(line, lines++);
    EXPECT_EQ(score.word_scores, scores[line].word_scores);
  });
  EXPECT_EQ(lines, kPrompts.size());
}

TEST_F(GeneratorTest, NormalizesByTheWordsAfterThePrompt) {
  const Generator generator(
      model(), {.beam_size = 3, .max_new_tokens = 5, .normalize = 1, .word_penalty = 0.25f});
  for (const Continuation& entry : generator.generate("the sky is").continuations) {
    const auto words = static_cast<float>(entry.hypothesis.words.size());
    EXPECT_LE(entry.hypothesis.words.size(), 5u);
    EXPECT_FLOAT_EQ(entry.hypothesis.score,
                    (entry.hypothesis.log_probability - 0.25f * words) / words);
  }
}

TEST_F(GeneratorTest, IncludesThePromptOnRequest) {
  const Generation without = Generator(model()).generate("the sky");
  const Generation with = Generator(model(), {.include_prompt = true}).generate("the sky");
  EXPECT_EQ(with.text(), without.text().empty() ? "the sky" : "the sky " + without.text());
  EXPECT_EQ(with.continuations[0].hypothesis.words, without.continuations[0].hypothesis.words);
  EXPECT_EQ(without.prompt_bytes, 8u);
}

TEST_F(GeneratorTest, ReadsStreams) {
  const Generator generator(model(), {.max_new_tokens = 4, .threads = 2});
  std::istringstream input("the sky\n\na rose\n");
  std::vector<Generation> generations;
  generator.generate(input, [&](std::size_t line, Generation&& generation) {
    EXPECT_EQ(line, generations.size());
    generations.push_back(std::move(generation));
  });
  EXPECT_EQ(show(generations), show(generator.generate({"the sky", "", "a rose"})));
  EXPECT_THAT(generations[1].oddities, ElementsAre(LineOddity::empty));
  EXPECT_THAT([&] { generator.generate(input, nullptr); }, ThrowsMessage<Error>(HasSubstr("sink")));
}

TEST_F(GeneratorTest, PrintsContinuations) {
  const Generation generation{
      .continuations = {{"is red", {.word_scores = {-1, -2}, .log_probability = -3, .score = -1.5}},
                        {"is", {.word_scores = {-4}, .log_probability = -4, .score = -4}}},
      .oddities = {}};
  EXPECT_EQ(format_generation(3, generation, {}), "is red\n");
  EXPECT_EQ(format_generation(3, generation, {.n_best = true}),
            "3 ||| is red ||| F0= -3 ||| -1.5\n3 ||| is ||| F0= -4 ||| -4\n");
  EXPECT_EQ(format_generation(3, generation, {.n_best = true, .json = true}),
            R"({"line":3,"continuations":[{"text":"is red","score":-1.5,"log_probability":-3.0},)"
            R"({"text":"is","score":-4.0,"log_probability":-4.0}]})"
            "\n");
}

TEST_F(GeneratorTest, RefusesModelsOfTheOtherKind) {
  EXPECT_THAT([&] { Translator{model()}; }, ThrowsMessage<Error>(HasSubstr("with a Generator")));
  EXPECT_THAT(
      [] {
        GeneratorOptions options;
        options.vocabularies.paths = support::vocabularies();
        Generator(load_model(support::small_model()), options);
      },
      ThrowsMessage<Error>(HasSubstr("with a Translator")));
  const Scorer scorer(model());
  EXPECT_THAT([&] { scorer.score("a", "rose"); }, ThrowsMessage<Error>(HasSubstr("no source")));
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  const Scorer pairs(load_model(support::small_model()), options);
  EXPECT_THAT([&] { pairs.score("a"); }, ThrowsMessage<Error>(HasSubstr("a source and a target")));
}

TEST_F(GeneratorTest, RefusesWrongOptions) {
  EXPECT_THAT([&] { Generator(model(), {.max_new_tokens = 0}); },
              ThrowsMessage<Error>(HasSubstr("max-new-tokens must be from 1 to 1048576, not 0")));
  Model reversed = model();
  reversed.right_left = true;
  EXPECT_THAT([&] { Generator{std::move(reversed)}; },
              ThrowsMessage<Error>(HasSubstr("from right to left")));
  Model without = model();
  without.vocabularies.clear();
  EXPECT_THAT([&] { Generator{without}; }, ThrowsMessage<Error>(HasSubstr("no vocabulary")));
  without.vocabularies = {"one.txt", "other.txt"};
  EXPECT_THAT([&] { Generator{without}; },
              ThrowsMessage<Error>(HasSubstr("one.txt and other.txt")));
}

// --- Prefixes of translations ---

std::unique_ptr<Executable> translation_model(const SearchOptions& options) {
  const Model model = load_model(support::small_model());
  return compile(
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(options), .listed = options.guided}),
      model.weights, {});
}

const std::vector<WordIds> kSources{{11, 7, 25, 4, 0}, {9, 0}, {30, 31, 5, 6, 0}};

TEST(Prefixes, OfTheBestTranslationGiveThatTranslation) {
  const SearchOptions options{.beam_size = 1, .normalize = 0.6f, .alignment = true, .guided = true};
  const auto executable = translation_model(options);
  BeamSearch search(*executable, options);
  const std::vector<NBest> expected = search.search(kSources);
  for (const std::size_t words : {0, 1, 2}) {
    std::vector<SearchGuide> prefixes;
    for (const NBest& n_best : expected) {
      const auto& best = n_best[0].words;
      prefixes.push_back(
          {.prefix = {best.begin(), best.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min(words, best.size() - 1))}});
    }
    const std::vector<NBest> found = search.search(kSources, {}, prefixes);
    for (std::size_t s = 0; s < kSources.size(); ++s) {
      EXPECT_EQ(found[s][0].words, expected[s][0].words);
      EXPECT_THAT(found[s][0].word_scores, Pointwise(FloatNear(1e-5f), expected[s][0].word_scores));
      EXPECT_NEAR(found[s][0].log_probability, expected[s][0].log_probability, 1e-5);
      EXPECT_NEAR(found[s][0].score, expected[s][0].score, 1e-5);
      EXPECT_EQ(found[s][0].alignment, expected[s][0].alignment);
    }
  }
}

TEST(Prefixes, BeginAllHypothesesWhateverTheOtherSentencesHave) {
  const SearchOptions options{.beam_size = 3, .guided = true};
  const auto executable = translation_model(options);
  BeamSearch search(*executable, options);
  const std::vector<SearchGuide> prefixes{{.prefix = {14, 3, 8}}, {}, {.prefix = {22}}};
  const std::vector<NBest> together = search.search(kSources, {}, prefixes);
  for (std::size_t s = 0; s < kSources.size(); ++s) {
    const std::vector<NBest> alone =
        search.search(std::span(kSources).subspan(s, 1), {}, std::span(prefixes).subspan(s, 1));
    ASSERT_EQ(alone[0].size(), together[s].size());
    EXPECT_THAT(together[s], SizeIs(3));
    for (std::size_t i = 0; i < alone[0].size(); ++i) {
      const Hypothesis& found = together[s][i];
      EXPECT_EQ(found.words, alone[0][i].words);
      EXPECT_EQ(found.word_scores, alone[0][i].word_scores);
      EXPECT_EQ(found.score, alone[0][i].score);
      ASSERT_GT(found.words.size(), prefixes[s].prefix.size());
      EXPECT_TRUE(
          std::equal(prefixes[s].prefix.begin(), prefixes[s].prefix.end(), found.words.begin()));
    }
  }
  EXPECT_EQ(together[1][0].words, search.search(kSources)[1][0].words);
}

}  // namespace
}  // namespace fuselage::generator_test
