// Words that are drawn in place of the best ones: how often, and that the text follows from the
// seed alone.

#include "fuselage/decoding/sampling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "base/files/file.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/sampling_streams.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/generator.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/architectures/ensemble.h"
#include "tests/decoding/support.h"
#include "tests/language_model.h"
#include "tests/temp_path.h"

namespace fuselage::sampling_test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

Sampling parse(const std::vector<std::string>& values) { return parse_sampling(values); }

TEST(ParseSampling, TakesTheValuesOfMarianDecoder) {
  EXPECT_EQ(parse({}).method, SamplingMethod::full);
  EXPECT_EQ(parse({}).temperature, 1);
  EXPECT_EQ(parse({"full", "0.5"}).temperature, 0.5);
  EXPECT_EQ(parse({"topk"}).k, 10);
  EXPECT_EQ(parse({"topk", "100"}).k, 100);
  EXPECT_EQ(parse({"topk", "100", "0.1"}).temperature, 0.1);
  EXPECT_EQ(parse({"topk", "100", "0.1"}).method, SamplingMethod::top_k);
  EXPECT_EQ(parse({"nucleus"}).p, 0.9);
  EXPECT_EQ(parse({"nucleus", "1"}).p, 1);
  EXPECT_EQ(parse({"epsilon"}).epsilon, 0.02);
  EXPECT_EQ(parse({"epsilon", "0.3", "2"}).epsilon, 0.3);
  EXPECT_EQ(parse({"epsilon", "0.3", "2"}).temperature, 2);
}

TEST(ParseSampling, RefusesOtherValues) {
  const auto refuses = [](const std::vector<std::string>& values, const char* message) {
    EXPECT_THAT([&] { parse(values); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  refuses({"nukleus"}, "there is no method 'nukleus'; did you mean 'nucleus'?");
  refuses({"full", "0"}, "the temperature must be a number from 0.001 to 1000, not '0'");
  refuses({"full", "1", "1"}, "'full' takes 1 number, not 2");
  refuses({"topk", "1", "1", "1"}, "'topk' takes 2 numbers, not 3");
  refuses({"topk", "0"}, "K must be a whole number from 1 to 1024, not '0'");
  refuses({"topk", "2.5"}, "K must be a whole number from 1 to 1024, not '2.5'");
  refuses({"nucleus", "1.1"}, "P must be a number above 0 and up to 1, not '1.1'");
  refuses({"epsilon", "0"}, "E must be a number above 0 and up to 1, not '0'");
}

TEST(ParseSampling, VerifiesNumbersOfPrograms) {
  const auto refuses = [](const Sampling& sampling, const char* message) {
    EXPECT_THAT([&] { verify(sampling); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  EXPECT_NO_THROW(verify(Sampling{}));
  refuses({.temperature = std::nan("")}, "the temperature of sampling must be");
  refuses({.method = SamplingMethod::top_k, .k = 2000}, "from 1 to 1024, not 2000");
  refuses({.method = SamplingMethod::nucleus, .p = 0}, "the p of sampling must be");
  refuses({.method = SamplingMethod::epsilon, .epsilon = 2}, "the epsilon of sampling must be");
}

// --- Distributions ---

/// The critical value of χ² for p = 0.001 (Wilson and Hilferty 1931).
double critical(std::size_t degrees) {
  const double share = 2.0 / (9.0 * static_cast<double>(degrees));
  return static_cast<double>(degrees) * std::pow(1 - share + 3.0902 * std::sqrt(share), 3);
}

class SamplingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream stream(support::conformance_case("transformer-ssru") + "/input.sp.en");
    for (std::string line; std::getline(stream, line);) lines_.push_back(line);
    options_.vocabularies.paths = support::vocabularies();
    options_.sampling.emplace();
  }

  static constexpr std::size_t kLine = 11;  ///< a line with many probable first words

  Translator translator() const { return Translator(load_model(support::small_model()), options_); }

  /// The number of times that each word comes first in `count` samples of kLine.
  std::map<WordId, double> first_words(std::size_t count) {
    options_.max_length_factor = 0.01f;  // one word
    options_.batches.mini_batch = 500;
    options_.seed = 7;
    std::map<WordId, double> counts;
    for (const Translation& translation :
         translator().translate(std::vector<std::string>(count, lines_[kLine])))
      ++counts[translation.n_best[0].hypothesis.words.at(0)];
    return counts;
  }

  /// The model's log-probabilities of the first word of kLine.
  std::vector<double> log_probabilities() const {
    const Model model = load_model(support::small_model());
    const VocabularyPair pair = load_vocabulary_pair(model, options_.vocabularies);
    const auto executable =
        compile(with_search_head(model.graph, SearchHead::log_probabilities), model.weights, {});
    const auto worker = executable->make_worker();
    const std::vector<WordIds> sentences{pair.source->encode(lines_[kLine])};
    worker->begin(sentences, {{1}, {1}});
    const std::vector<std::int32_t> none{-1}, zero{0};
    worker->step({none, zero, zero, none, zero});
    const auto row = worker->floats(executable->output(kLogProbs)).row(0);
    std::vector<double> numbers(row.begin(), row.end());
    for (const WordId word : words_to_suppress(*pair.target, false, false))
      numbers[static_cast<std::size_t>(word)] = -std::numeric_limits<double>::infinity();
    return numbers;
  }

  /// The probabilities that the words are drawn with, by sorting.
  std::vector<double> probabilities() const {
    std::vector<double> p = log_probabilities();
    const Sampling& sampling = *options_.sampling;
    for (double& x : p) x = std::exp(x / sampling.temperature);
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    const double all = std::accumulate(p.begin(), p.end(), 0.0);
    double before = 0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
      double& x = p[order[rank]];
      const double share = x / all;
      const bool out =
          (sampling.method == SamplingMethod::top_k && static_cast<int>(rank) >= sampling.k) ||
          (sampling.method == SamplingMethod::nucleus && before >= sampling.p) ||
          (sampling.method == SamplingMethod::epsilon && rank > 0 && share < sampling.epsilon);
      before += share;
      if (out) x = 0;
    }
    const double left = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= left;
    return p;
  }

  /// χ² of the first words of 20,000 samples, with rare words in one class.
  void expect_fits(std::size_t at_least) {
    constexpr std::size_t kCount = 20000;
    const std::map<WordId, double> counts = first_words(kCount);
    const std::vector<double> p = probabilities();
    double chi_square = 0, rare = 0, rare_expected = 0;
    std::size_t classes = 0;
    for (std::size_t word = 0; word < p.size(); ++word) {
      const auto found = counts.find(static_cast<WordId>(word));
      const double count = found == counts.end() ? 0 : found->second;
      const double expected = p[word] * kCount;
      if (p[word] == 0) {
        EXPECT_EQ(count, 0) << "word " << word;
      }
      if (expected < 5) {
        rare += count;
        rare_expected += expected;
        continue;
      }
      chi_square += (count - expected) * (count - expected) / expected;
      ++classes;
    }
    if (rare_expected >= 5) {
      chi_square += (rare - rare_expected) * (rare - rare_expected) / rare_expected;
      ++classes;
    }
    EXPECT_GE(classes, at_least);
    EXPECT_LT(chi_square, critical(classes - 1)) << classes << " classes";
  }

  std::vector<std::string> lines_;
  TranslatorOptions options_{.normalize = 0.6f, .max_length_factor = 2};
};

TEST_F(SamplingTest, DrawsFromAllWords) { expect_fits(100); }

TEST_F(SamplingTest, DrawsAtALowerTemperature) {
  options_.sampling->temperature = 0.7;
  expect_fits(50);
}

TEST_F(SamplingTest, DrawsFromTheMostProbableWords) {
  options_.sampling = {.method = SamplingMethod::top_k, .temperature = 2, .k = 7};
  expect_fits(7);
}

TEST_F(SamplingTest, DrawsFromTheNucleus) {
  options_.sampling = {.method = SamplingMethod::nucleus, .temperature = 1.5, .p = 0.8};
  expect_fits(50);
}

TEST_F(SamplingTest, DrawsFromWordsOfSomeProbability) {
  options_.sampling = {.method = SamplingMethod::epsilon, .temperature = 1.5, .epsilon = 0.01};
  expect_fits(10);
}

// --- Reproducibility ---

/// All numbers of translations, to the last digit.
std::string show(const Translation& translation) {
  std::string text = format_translation(0, translation, {.n_best = true});
  for (const TranslatedText& entry : translation.n_best) {
    for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
    for (const auto& row : entry.hypothesis.alignment)
      for (const float weight : row) text += fmt::format(" {:a}", weight);
  }
  return text;
}

std::vector<std::string> show(const std::vector<Translation>& translations) {
  std::vector<std::string> texts;
  for (const Translation& translation : translations) texts.push_back(show(translation));
  return texts;
}

TEST_F(SamplingTest, TheTextDependsOnTheSeedAloneNotOnBatchesOrThreads) {
  for (const Sampling& sampling :
       {Sampling{}, Sampling{.method = SamplingMethod::nucleus, .temperature = 1.5},
        Sampling{.method = SamplingMethod::top_k, .temperature = 2}}) {
    options_.sampling = sampling;
    options_.seed = 42;
    options_.beam_size = 2;
    options_.batches.mini_batch = 1;
    options_.threads = 1;
    const std::vector<std::string> expected = show(translator().translate(lines_));
    for (const std::size_t mini_batch : {7, 64})
      for (const std::size_t threads : {1, 3}) {
        options_.batches.mini_batch = mini_batch;
        options_.threads = threads;
        EXPECT_EQ(show(translator().translate(lines_)), expected);
      }
    options_.seed = 43;
    EXPECT_NE(show(translator().translate(lines_)), expected);
  }
}

TEST_F(SamplingTest, ALineAloneHasTheSeedOfItsNumber) {
  options_.seed = 1000;
  options_.alignment = true;
  const std::vector<Translation> all = translator().translate(lines_);
  for (const std::size_t line : {0, 1, 17, 39}) {
    options_.seed = 1000 + line;
    EXPECT_EQ(show(translator().translate(lines_[line])), show(all[line])) << line;
  }
  // As in the parts of a file.
  options_.seed = 1020;
  const std::vector<std::string> second(lines_.begin() + 20, lines_.end());
  EXPECT_EQ(show(translator().translate(second)),
            show(std::vector<Translation>(all.begin() + 20, all.end())));
}

TEST_F(SamplingTest, ASeedMayBeAnyNumber) {
  options_.seed = ~std::uint64_t{0};
  const std::vector<Translation> all = translator().translate({lines_[0], lines_[1]});
  options_.seed = 0;
  EXPECT_EQ(show(translator().translate(lines_[1])), show(all[1]));
}

TEST_F(SamplingTest, BeamSizeIsTheNumberOfSamples) {
  EXPECT_EQ(translator().options().beam_size, 1);
  const std::vector<Translation> single = translator().translate(lines_);
  options_.beam_size = 5;
  const std::vector<Translation> five = translator().translate(lines_);
  options_.n_best = 2;
  const std::vector<Translation> two = translator().translate(lines_);
  std::size_t different = 0;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::vector<TranslatedText>& samples = five[i].n_best;
    ASSERT_THAT(samples, SizeIs(5));
    std::set<std::string> texts;
    for (const TranslatedText& sample : samples) texts.insert(sample.text);
    different += texts.size();
    EXPECT_TRUE(texts.contains(single[i].text())) << "the first sample";
    EXPECT_TRUE(std::is_sorted(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
      return a.hypothesis.score > b.hypothesis.score;
    }));
    ASSERT_THAT(two[i].n_best, SizeIs(2));
    for (const std::size_t rank : {0, 1}) EXPECT_EQ(two[i].n_best[rank].text, samples[rank].text);
  }
  EXPECT_GT(different, 3 * lines_.size());
}

TEST_F(SamplingTest, ScoresAreTheModelsLogProbabilities) {
  options_.sampling->temperature = 2;
  const std::vector<double> expected = log_probabilities();
  for (const Translation& sample :
       translator().translate(std::vector<std::string>(20, lines_[kLine]))) {
    const Hypothesis& hypothesis = sample.n_best[0].hypothesis;
    EXPECT_NEAR(hypothesis.word_scores[0], expected[static_cast<std::size_t>(hypothesis.words[0])],
                1e-5);
  }
}

TEST_F(SamplingTest, OneWordOfTheTopIsTheGreedySearch) {
  options_.sampling = {.method = SamplingMethod::top_k, .k = 1};
  const std::vector<Translation> drawn = translator().translate(lines_);
  options_.sampling.reset();
  options_.beam_size = 1;
  EXPECT_EQ(show(drawn), show(translator().translate(lines_)));
}

TEST_F(SamplingTest, EmptyLinesStayEmpty) {
  options_.beam_size = 2;
  const std::vector<Translation> all = translator().translate({"", lines_[1], ""});
  EXPECT_EQ(all[0].text(), "");
  EXPECT_EQ(all[2].text(), "");
  EXPECT_THAT(all[1].n_best, SizeIs(2));
  EXPECT_EQ(translator().translate("").text(), "");
}

TEST_F(SamplingTest, AgreesWithTheReferenceForEveryHead) {
  const VocabularyPair pair =
      load_vocabulary_pair(load_model(support::small_model()), options_.vocabularies);
  std::string table;
  for (WordId word = 0; word < 60; ++word)
    table += fmt::format("{} {} 0.5\n", pair.target->word(word), pair.source->word(word));
  const std::string path = temp_path("lex.s2t");
  write_file_atomically(path, table);
  for (const bool listed : {false, true})
    for (const SamplingMethod method : {SamplingMethod::full, SamplingMethod::top_k,
                                        SamplingMethod::nucleus, SamplingMethod::epsilon}) {
      options_.sampling = {.method = method};
      options_.shortlist =
          ShortlistOptions{.path = listed ? path : "", .limits = {.first = 60, .best = 1}};
      options_.compile.backend = "cpu";
      const std::vector<Translation> cpu = translator().translate(lines_);
      options_.compile.backend = "reference";
      const std::vector<Translation> reference = translator().translate(lines_);
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        EXPECT_EQ(cpu[i].text(), reference[i].text()) << "line " << i;
      }
    }
}

TEST_F(SamplingTest, DrawsFromEnsemblesInAnyPrecision) {
  std::vector<EnsembleMember> members;
  for (const char* name : {"transformer-ssru", "transformer-post"})
    members.push_back(
        {load_model(support::conformance_case(name) + "/model.npz"), 0.5, std::string(name)});
  const Model ensemble = make_ensemble(std::move(members));
  options_.model_scores = true;
  options_.beam_size = 2;
  for (const Precision precision : {Precision::fp32, Precision::int8}) {
    options_.compile.precision = precision;
    options_.threads = 1;
    const std::vector<Translation> all = Translator(ensemble, options_).translate(lines_);
    options_.threads = 3;
    EXPECT_EQ(show(Translator(ensemble, options_).translate(lines_)), show(all));
    const Hypothesis& first = all[0].n_best[0].hypothesis;
    ASSERT_THAT(first.model_scores, SizeIs(2));
    EXPECT_NEAR(0.5 * (first.model_scores[0] + first.model_scores[1]), first.log_probability, 1e-3);
  }
}

TEST_F(SamplingTest, SuppressedWordsAreNeverDrawn) {
  const Model model = load_model(support::small_model());
  const std::vector<double> p = log_probabilities();
  std::vector<std::int32_t> best(p.size());
  std::iota(best.begin(), best.end(), 0);
  std::sort(best.begin(), best.end(), [&](std::int32_t a, std::int32_t b) {
    return p[static_cast<std::size_t>(a)] > p[static_cast<std::size_t>(b)];
  });
  best.resize(3);
  const std::vector<WordIds> sentences(200, {17, 5, 0});
  std::vector<std::uint64_t> streams;
  for (std::size_t i = 0; i < sentences.size(); ++i) streams.push_back(stream_of_line(1, i));
  for (const SamplingMethod method : {SamplingMethod::full, SamplingMethod::top_k}) {
    const auto executable = compile(
        with_search_head(model.graph, SearchHead::k_best,
                         {.sampling = Sampling{.method = method, .k = 2}, .suppressed = best}),
        model.weights, {});
    BeamSearch search(*executable, {.beam_size = 1, .suppressed = best});
    for (const NBest& found :
         search.search(SamplingStreams(streams).added_to(Batch{.sentences = sentences}), {}))
      for (const WordId word : found.at(0).words)
        EXPECT_EQ(std::find(best.begin(), best.end(), word), best.end());
  }
}

TEST_F(SamplingTest, APrefixIsFollowedAndTheRestDrawn) {
  const Model model = load_model(support::small_model());
  const auto executable = compile(with_search_head(model.graph, SearchHead::k_best,
                                                   {.sampling = Sampling{}, .suppressed = {1}}),
                                  model.weights, {});
  const std::vector<WordIds> sentences(50, {17, 5, 0});
  const std::vector<SearchGuide> guides(50, {.prefix = {9, 8, 7}});
  std::vector<std::uint64_t> streams;
  for (std::size_t i = 0; i < sentences.size(); ++i) streams.push_back(stream_of_line(3, i));
  BeamSearch search(*executable, {.beam_size = 1, .suppressed = {1}});
  std::set<WordId> next;
  for (const NBest& found :
       search.search(SamplingStreams(streams).added_to(Batch{.sentences = sentences}), guides)) {
    const std::vector<WordId>& words = found.at(0).words;
    ASSERT_GE(words.size(), 4);
    EXPECT_EQ(WordIds(words.begin(), words.begin() + 3), guides[0].prefix);
    next.insert(words[3]);
  }
  EXPECT_GT(next.size(), 3);
}

TEST_F(SamplingTest, TheRestOfALineWithAPrefixIsDrawn) {
  options_.guided = true;
  options_.beam_size = 3;
  const std::string prefix = translator().translate(lines_[1]).text().substr(0, 3);
  const std::vector<LineGuide> guides(lines_.size(), {.prefix = prefix});
  options_.batches.mini_batch = 4;
  const std::vector<Translation> all = translator().translate(lines_, guides);
  for (const Translation& translation : all)
    for (const TranslatedText& sample : translation.n_best)
      EXPECT_TRUE(sample.text.starts_with(prefix)) << sample.text;
  options_.seed = 3;
  EXPECT_EQ(show(translator().translate(lines_[3], guides[3])), show(all[3]));
}

TEST_F(SamplingTest, RefusesWhatContradictsIt) {
  const auto refuses = [&](const TranslatorOptions& options, const char* message) {
    EXPECT_THAT([&] { Translator(load_model(support::small_model()), options); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  TranslatorOptions options = options_;
  options.skip_cost = true;
  refuses(options, "skip-cost cannot go with output-sampling");
  options = options_;
  options.n_best = 2;
  refuses(options, "n-best must be at most beam-size, the number of samples, which is 1, not 2");
  options = options_;
  options.sampling->temperature = 0;
  refuses(options, "the temperature of sampling must be a number from 0.001 to 1000, not 0");
  options = options_;
  options.guided = options.constraints = true;
  options.beam_size = 5;
  refuses(options, "terms cannot go with output-sampling");
  options = options_;
  options.beam_size = 2000;
  refuses(options, "beam-size");
}

// --- Language models ---

TEST(GeneratorSampling, DependsOnTheSeedAlone) {
  support::TemporaryFolder folder;
  const Model model = support::make_language_model(folder / "words.txt");
  const std::vector<std::string> prompts{"a rose is", "", "the sky", "red", "so so so so so"};
  GeneratorOptions options{.beam_size = 3, .max_new_tokens = 8, .sampling = Sampling{}, .seed = 5};
  const auto show = [](const Generation& generation) {
    return format_generation(0, generation, {.n_best = true});
  };
  const std::vector<Generation> all = Generator(model, options).generate(prompts);
  std::set<std::string> texts;
  for (const std::size_t mini_batch : {1, 3}) {
    options.batches.mini_batch = mini_batch;
    options.threads = mini_batch;
    const std::vector<Generation> again = Generator(model, options).generate(prompts);
    for (std::size_t i = 0; i < prompts.size(); ++i) EXPECT_EQ(show(again[i]), show(all[i]));
  }
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    ASSERT_THAT(all[i].continuations, SizeIs(3));
    for (const Continuation& sample : all[i].continuations) texts.insert(sample.text);
    options.seed = 5 + i;
    EXPECT_EQ(show(Generator(model, options).generate(prompts[i])), show(all[i]));
  }
  EXPECT_GT(texts.size(), 5);
}

}  // namespace
}  // namespace fuselage::sampling_test
