// Translations with prefixes and terms.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "fuselage/base/error.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"
#include "tests/decoding/support.h"

namespace fuselage::guided_translation_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

std::vector<std::string> input_lines() {
  std::ifstream stream(support::conformance_case("transformer-ssru") + "/input.sp.en");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Model small_model() { return load_model(support::small_model()); }

TranslatorOptions guided_options() {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = 4;
  options.normalize = 0.6f;
  options.guided = true;
  return options;
}

std::string show(const Translation& translation) {
  std::string text = format_translation(0, translation, {.n_best = true});
  for (const TranslatedText& entry : translation.n_best)
    for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
  return text;
}

/// The first words of a text.
std::string beginning(const std::string& text, std::size_t words) {
  std::istringstream stream(text);
  std::string result, word;
  for (std::size_t i = 0; i < words && stream >> word; ++i) result += (i == 0 ? "" : " ") + word;
  return result;
}

TEST(GuidedTranslation, BeginsWithItsPrefixWhoseWordsAreScored) {
  const Translator translator(small_model(), guided_options());
  const std::vector<std::string> lines = input_lines();
  const std::vector<Translation> free = translator.translate(lines);
  std::vector<LineGuide> guides;
  for (std::size_t i = 0; i < lines.size(); ++i)
    guides.push_back({.prefix = beginning(free[(i + 7) % lines.size()].text(), i % 4)});
  const std::vector<Translation> found = translator.translate(lines, guides);
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.normalize = 0.6f;
  const Scorer scorer(small_model(), options);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_THAT(found[i].text(), StartsWith(guides[i].prefix));
    texts.push_back(found[i].text());
  }
  const std::vector<PairScore> scores = scorer.score(lines, texts);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Hypothesis& best = found[i].n_best[0].hypothesis;
    if (best.words.back() != 0) continue;
    EXPECT_NEAR(best.log_probability, scores[i].log_probability, 1e-3) << lines[i];
    EXPECT_NEAR(best.score, scores[i].score, 1e-3);
  }
}

/// Guides of all kinds, from words of other translations.
std::vector<LineGuide> random_guides(const std::vector<Translation>& translations) {
  std::mt19937 random(3);
  const auto some_text = [&] { return translations[random() % translations.size()].text(); };
  std::vector<LineGuide> guides(translations.size());
  for (LineGuide& guide : guides) {
    if (random() % 3 == 0) guide.prefix = beginning(some_text(), random() % 4);
    for (std::size_t i = random() % 4; i-- > 0;) {
      Term& term = guide.terms.emplace_back();
      for (std::size_t forms = 1 + random() % 2; forms-- > 0;)
        term.push_back(beginning(some_text(), 1 + random() % 2));
    }
  }
  return guides;
}

TEST(GuidedTranslation, DoesNotDependOnOtherLines) {
  TranslatorOptions options = guided_options();
  const std::vector<std::string> lines = input_lines();
  const Translator alone(small_model(), options);
  const std::vector<LineGuide> guides = random_guides(alone.translate(lines));
  options.threads = 3;
  for (const std::size_t size : {7, 64}) {
    options.batches.mini_batch = size;
    const Translator translator(small_model(), options);
    const std::vector<Translation> together = translator.translate(lines, guides);
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_EQ(show(together[i]), show(alone.translate(lines[i], guides[i]))) << i;
  }
}

TEST(GuidedTranslation, TakesLinesAndGuidesFromAFunction) {
  const Translator translator(small_model(), guided_options());
  const std::vector<std::string> lines = input_lines();
  std::vector<LineGuide> guides(lines.size());
  guides[1].prefix = beginning(translator.translate(lines[4]).text(), 2);
  const std::vector<Translation> expected = translator.translate(lines, guides);
  std::size_t next = 0;
  std::vector<std::string> shown;
  translator.translate(
      [&](std::string& line, LineGuide& guide) {
        EXPECT_TRUE(guide.prefix.empty() && guide.terms.empty());
        if (next == lines.size()) return false;
        line = lines[next];
        guide = guides[next++];
        return true;
      },
      [&](std::size_t line, Translation&& translation) {
        EXPECT_EQ(line, shown.size());
        shown.push_back(show(translation));
      });
  ASSERT_EQ(shown.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(shown[i], show(expected[i]));
  EXPECT_THROW(translator.translate(Translator::Lines(), [](std::size_t, Translation&&) {}), Error);
}

TEST(GuidedTranslation, ReadsGuidesFromFieldsOfALine) {
  TranslatorOptions options = guided_options();
  const std::string line = input_lines()[2];
  const Translator api(small_model(), options);
  const std::vector<Translation> texts = api.translate(input_lines());
  const LineGuide guide{.prefix = beginning(texts[5].text(), 2),
                        .terms = {{beginning(texts[8].text(), 1)},
                                  {beginning(texts[9].text(), 2), beginning(texts[11].text(), 1)}}};
  options.guided = false;
  options.force_decode = options.constraints = true;
  const Translator fields(small_model(), options);
  const std::string given = fmt::format("{}\t{}\t{}\t{}|||{}", line, guide.prefix,
                                        guide.terms[0][0], guide.terms[1][0], guide.terms[1][1]);
  EXPECT_EQ(show(fields.translate(given)), show(api.translate(line, guide)));
  EXPECT_EQ(show(fields.translate(line)), show(api.translate(line)));
  EXPECT_EQ(show(fields.translate(line + "\t")), show(api.translate(line)));
  EXPECT_EQ(show(fields.translate(line + "\t\t\t")), show(api.translate(line)));
  EXPECT_EQ(fields.translate("").text(), "");
  options.constraints = false;
  EXPECT_THAT([&] { Translator(small_model(), options).translate(line + "\ta\tb"); },
              ThrowsMessage<Error>(
                  HasSubstr("line 1 has 3 fields, separated by tabs, but a line has 1 of")));
}

// The bundled model has a shortlist, whose scores other kernels compute where prefixes are allowed.
TEST(GuidedTranslation, LinesWithoutGuidesHaveTheBitsOfAnUnguidedTranslator) {
  const std::vector<std::string> lines{"Where is the nearest station?", "I don't know.",
                                       "He has been to Paris twice, but he never saw the tower."};
  for (const bool guided : {true, false})
    for (const Precision precision : {Precision::int8, Precision::fp32}) {
      TranslatorOptions options{.beam_size = 4, .n_best = 4};
      options.compile.precision = precision;
      const Translator plain(find_bundled_model(), options);
      options.guided = guided;
      options.force_decode = !guided;
      const Translator other(find_bundled_model(), options);
      const std::vector<Translation> expected = plain.translate(lines),
                                     got = other.translate(lines);
      for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(show(got[i]), show(expected[i]));
    }
}

TEST(GuidedTranslation, HasTheTermsOfATerminology) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "terms.tsv") << "friend\tKumpel\tFreundin\nhouse\tGebäude\n";
  TranslatorOptions options;
  options.beam_size = 6;
  options.terminology = folder / "terms.tsv";
  const Translator translator(find_bundled_model(), options);
  const std::vector<Translation> found = translator.translate(
      {"Tom is my friend.", "I like this house.", "My friend has a house.", "I am tired."});
  for (const std::size_t i : {1, 2}) EXPECT_THAT(found[i].text(), HasSubstr("Gebäude"));
  for (const std::size_t i : {0, 2}) {
    const std::string& text = found[i].text();
    EXPECT_THAT(text, ::testing::AnyOf(HasSubstr("Kumpel"), HasSubstr("Freundin")));
  }
  options.terminology.clear();
  EXPECT_EQ(found[3].text(),
            Translator(find_bundled_model(), options).translate("I am tired.").text());
}

TEST(GuidedTranslation, TermsAreWholeWords) {
  TranslatorOptions options;
  options.beam_size = 6;
  options.guided = true;
  const Translator translator(find_bundled_model(), options);
  const std::string text =
      translator.translate("The school bus is late.", {.terms = {{"Schul"}}}).text();
  EXPECT_THAT(" " + text + " ", ::testing::ContainsRegex("[ .,!?]Schul[ .,!?]")) << text;
}

TEST(GuidedTranslation, RefusesContradictions) {
  const auto expect_error = [](const TranslatorOptions& options, const std::string& message,
                               const LineGuide& guide = {}, bool right_left = false) {
    const auto translate = [&] {
      Model model = small_model();
      model.right_left = right_left;
      Translator(std::move(model), options).translate(input_lines()[0], guide);
    };
    EXPECT_THAT(translate, ThrowsMessage<Error>(HasSubstr(message)));
  };
  TranslatorOptions options = guided_options();
  options.guided = false;
  expect_error(options, "line 1 has a guide, but the translator was made without", {.prefix = "a"});
  options = guided_options();
  options.beam_size = 1;
  expect_error(options, "terms need a beam-size of at least 2", {.terms = {{"."}}});
  options.constraints = true;
  expect_error(options, "terms need a beam-size of at least 2");
  options.constraints = false;
  options.skip_cost = true;
  expect_error(options, "skip-cost leaves scores without normalization");
  options = guided_options();
  expect_error(options, "translates from right to left", {.prefix = "a"}, true);
  options.force_decode = true;
  expect_error(options, "translates from right to left", {}, true);
  options = guided_options();
  expect_error(options, "has no words for the term 'xyzzy'", {.terms = {{"xyzzy"}}});
  expect_error(options, "has no words for the term '</s>'", {.terms = {{"</s>"}}});
  expect_error(options, "the prefix has the end symbol", {.prefix = ". </s> ."});
  expect_error(options, "line 1 has 65 terms, but at most 64",
               {.terms = std::vector<Term>(65, Term{"."})});
  const Translator translator(small_model(), options);
  EXPECT_THAT(
      [&] {
        translator.translate(std::vector<std::string>{"a", "b"}, std::vector<LineGuide>(1));
      },
      ThrowsMessage<Error>(HasSubstr("2 lines, but 1 guides")));
}

}  // namespace
}  // namespace fuselage::guided_translation_test
