// Translations without repetitions, and of a minimal length.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "fuselage/base/error.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"

namespace fuselage::repetition_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> input_lines() {
  std::ifstream stream(support::conformance_case("transformer-ssru") + "/input.sp.en");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line + " " + line);
  return lines;
}

Model small_model(const std::string& name = "transformer-ssru") {
  return load_model(support::conformance_case(name) + "/model.npz");
}

TranslatorOptions small_options() {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = 4;
  return options;
}

std::string show(const std::vector<Translation>& translations) {
  std::string text;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    text += format_translation(i, translations[i], {.n_best = true});
    for (const TranslatedText& entry : translations[i].n_best)
      for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
  }
  return text;
}

/// Hypotheses in which a sequence of n words occurs twice.
std::size_t repeating(const std::vector<Translation>& translations, std::size_t n) {
  std::size_t count = 0;
  for (const Translation& translation : translations)
    for (const TranslatedText& entry : translation.n_best) {
      const auto& words = entry.hypothesis.words;
      std::set<std::vector<std::int32_t>> seen;
      bool twice = false;
      for (auto at = words.begin(); words.end() - at >= static_cast<std::ptrdiff_t>(n); ++at)
        twice |= !seen.emplace(at, at + static_cast<std::ptrdiff_t>(n)).second;
      count += twice ? 1 : 0;
    }
  return count;
}

class Repetitions : public ::testing::TestWithParam<std::string> {
 protected:
  std::vector<Translation> translate(const TranslatorOptions& options) const {
    return Translator(small_model(GetParam()), options).translate(lines_);
  }

  std::vector<std::string> lines_ = input_lines();
};

INSTANTIATE_TEST_SUITE_P(Models, Repetitions, ::testing::Values("transformer-ssru", "nematus"));

TEST_P(Repetitions, OfNgramsDoNotOccur) {
  TranslatorOptions options = small_options();
  const std::vector<Translation> free = translate(options);
  for (const std::int32_t n : {1, 2, 3}) {
    EXPECT_GT(repeating(free, static_cast<std::size_t>(n)), 0u) << "the test needs repetitions";
    options.no_repeat_ngram_size = n;
    EXPECT_EQ(repeating(translate(options), static_cast<std::size_t>(n)), 0u) << n;
  }
}

TEST_P(Repetitions, ArePenalizedMoreAndMore) {
  TranslatorOptions options = small_options();
  std::size_t before = repeating(translate(options), 1);
  for (const float penalty : {1.5f, 20.0f}) {
    options.repetition_penalty = penalty;
    const std::size_t now = repeating(translate(options), 1);
    EXPECT_LT(now, before) << penalty;
    before = now;
  }
}

TEST_P(Repetitions, ThatMayOccurChangeNothing) {
  TranslatorOptions options = small_options();
  const std::string expected = show(translate(options));
  options.no_repeat_ngram_size = 200;
  const std::vector<Translation> unhindered = translate(options);
  ASSERT_EQ(repeating(unhindered, 200), 0u);
  options.no_repeat_ngram_size.reset();
  EXPECT_EQ(show(translate(options)), expected);
}

TEST_P(Repetitions, AreTheSameInAnyBatchAndByTheReferenceInterpreter) {
  TranslatorOptions options = small_options();
  lines_.resize(12);
  options.repetition_penalty = 1.25f;
  options.no_repeat_ngram_size = 3;
  const std::vector<Translation> expected = translate(options);
  options.batches.mini_batch = 1;
  EXPECT_EQ(show(translate(options)), show(expected));
  options.compile = {.backend = "reference", .passes = "none"};
  const std::vector<Translation> reference = translate(options);
  for (std::size_t i = 0; i < lines_.size(); ++i)
    EXPECT_EQ(reference[i].text(), expected[i].text()) << lines_[i];
}

TEST_P(Repetitions, WithPrefixesCountTheirWords) {
  TranslatorOptions options = small_options();
  options.guided = true;
  options.no_repeat_ngram_size = 1;
  const Translator translator(small_model(GetParam()), options);
  const std::string first = translator.translate(lines_[0]).text();
  const std::string prefix = first.substr(0, first.find(' '));
  const Translation found = translator.translate(lines_[0], {.prefix = prefix});
  EXPECT_EQ(repeating({found}, 1), 0u);
}

TEST_P(Repetitions, TranslationsHaveAMinimalLength) {
  TranslatorOptions options = small_options();
  options.min_length = 25;
  lines_.resize(20);
  for (const Translation& translation : translate(options))
    for (const TranslatedText& entry : translation.n_best) {
      const auto limit = static_cast<std::size_t>(3) * translation.source_words;
      EXPECT_GE(entry.hypothesis.words.size(), std::min<std::size_t>(26, limit));
    }
}

TEST(Repetition, LetsShortHypothesesEndWhereNoOtherWordIsLeft) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "lex.s2t") << "a a 0.5\n";
  TranslatorOptions options = small_options();
  options.shortlist = ShortlistOptions{.path = folder / "lex.s2t", .limits = {.first = 0}};
  options.no_repeat_ngram_size = 1;
  options.min_length = 60;
  for (const Translation& translation : Translator(small_model(), options).translate(input_lines()))
    for (const TranslatedText& entry : translation.n_best)
      EXPECT_LT(entry.hypothesis.words.size(), 60u);
}

TEST(Repetition, OfTheModelCanBeTurnedOff) {
  const auto model = [] {
    Model stating = small_model();
    stating.decode.repetition_penalty = 1.5f;
    stating.decode.no_repeat_ngram_size = 2;
    return stating;
  };
  TranslatorOptions options = small_options();
  const Translator stated(model(), options);
  EXPECT_EQ(stated.options().repetition_penalty, 1.5f);
  EXPECT_EQ(stated.options().no_repeat_ngram_size, 2);
  const std::vector<std::string> lines = input_lines();
  const std::string expected = show(Translator(small_model(), small_options()).translate(lines));
  EXPECT_NE(show(stated.translate(lines)), expected);
  options.repetition_penalty = 1.0f;
  options.no_repeat_ngram_size = 0;
  EXPECT_EQ(show(Translator(model(), options).translate(lines)), expected);
}

TEST(Repetition, RefusesContradictions) {
  const auto expect_error = [](const TranslatorOptions& options, const std::string& message) {
    EXPECT_THAT([&] { Translator(small_model(), options); },
                ThrowsMessage<Error>(HasSubstr(message)));
  };
  TranslatorOptions options = small_options();
  options.repetition_penalty = -1;
  expect_error(options, "repetition-penalty must be above 0, not -1");
  options.repetition_penalty.reset();
  options.no_repeat_ngram_size = 2;
  options.skip_cost = true;
  options.beam_size = 1;
  expect_error(options, "penalties of repeated words are for log-probabilities");
  options = small_options();
  options.min_length = -1;
  expect_error(options, "min-length must be a whole number from 0 to 1048576, not -1");
}

}  // namespace
}  // namespace fuselage::repetition_test
