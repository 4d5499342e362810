// Unknown words that are replaced by aligned source words, and coverage of the source.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "decoding/lines/unknown_replacement.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"
#include "text/vocabulary.h"

namespace fuselage::unknown_words_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

std::vector<std::string> input_lines() {
  std::ifstream stream(support::conformance_case("transformer-ssru") + "/input.sp.en");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Model aligned_model() { return load_model(support::conformance_case("nematus") + "/model.npz"); }

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    if (end > begin) words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

TEST(UnknownReplacement, TakesTheSourceWordOfTheLargestWeight) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "words.txt") << "</s>\n<unk>\na\n";
  const auto vocabulary = load_vocabulary(folder / "words.txt");
  const UnknownReplacement replacement(*vocabulary, TranslationDictionary("two\tzwei\n", "d.tsv"));
  const std::vector<std::string> source{"one", "two"};
  const Hypothesis known{.words = {2, 0}, .alignment = {{0, 1, 0}, {0, 0, 1}}};
  EXPECT_THAT(replacement.texts(known, source), IsEmpty());
  const Hypothesis unknown{
      .words = {1, 2, 1, 1, 0},
      .alignment = {
          {0.1f, 0.8f, 0.1f}, {0, 1, 0}, {0.5f, 0.4f, 0.1f}, {0.1f, 0.2f, 0.7f}, {0, 0, 1}}};
  EXPECT_THAT(replacement.texts(unknown, source), ElementsAre("zwei", "", "one", "zwei", ""))
      << "the end symbol gives no text";
  EXPECT_THAT(replacement.texts(unknown, source, std::vector<std::string>{"given", "a", "too"}),
              ElementsAre("given", "", "too", "zwei", ""));
  EXPECT_THAT(replacement.texts(unknown, std::vector<std::string>{"one", ""}),
              ElementsAre("one", "", "one", "one", ""))
      << "a lone space gives no text";
}

/// A vocabulary in which another word, the most frequent one in translations, is the unknown one.
std::string vocabulary_without(const support::TemporaryFolder& folder, const std::string& word) {
  std::ifstream given(support::vocabularies()[0]);
  std::ofstream made(folder / "target.yml");
  for (std::string line; std::getline(given, line);) {
    if (line.starts_with("<unk>:") || line.starts_with("\"<unk>\":"))
      line = "\"no word\"" + line.substr(line.find(':'));
    else if (line.starts_with("\"" + word + "\":") || line.starts_with(word + ":"))
      line = "<unk>" + line.substr(line.find(':', word.size()));
    made << line << "\n";
  }
  return folder / "target.yml";
}

class Unknowns : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(LeftRight, Unknowns, ::testing::Bool());

TEST_P(Unknowns, AreReplacedInTranslations) {
  const auto model = [] {
    Model made = aligned_model();
    made.right_left = GetParam();
    return made;
  };
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = 3;
  options.allow_unk = true;
  options.alignment = true;
  const std::vector<std::string> lines = input_lines();
  const std::vector<Translation> plain = Translator(model(), options).translate(lines);
  const support::TemporaryFolder folder;
  options.vocabularies.paths[1] = vocabulary_without(folder, ".");
  options.allow_unk.reset();
  options.replace_unknowns = true;
  std::ofstream(folder / "words.tsv") << ".\tPUNKT\n";
  const auto vocabulary = load_vocabulary(support::vocabularies()[0]);
  const WordId dot = vocabulary->encode(".")[0];
  for (const bool with_dictionary : {false, true}) {
    if (with_dictionary) options.dictionary = folder / "words.tsv";
    const std::vector<Translation> found = Translator(model(), options).translate(lines);
    std::size_t replaced = 0;
    for (std::size_t s = 0; s < lines.size(); ++s) {
      const Hypothesis& hypothesis = plain[s].n_best[0].hypothesis;
      std::vector<std::string> source = split(lines[s]);
      if (GetParam()) std::reverse(source.begin(), source.end());
      std::vector<std::string> expected;
      for (std::size_t i = 0; i < hypothesis.words.size(); ++i) {
        if (hypothesis.words[i] == vocabulary->end_id()) continue;
        expected.emplace_back(vocabulary->word(hypothesis.words[i]));
        if (hypothesis.words[i] != dot) continue;
        const auto begin = hypothesis.alignment[i].begin();
        const auto aligned = std::max_element(begin, begin + std::ssize(source)) - begin;
        expected.back() = source[static_cast<std::size_t>(aligned)];
        if (with_dictionary && expected.back() == ".") expected.back() = "PUNKT";
        ++replaced;
      }
      if (GetParam()) std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(found[s].text(), fmt::format("{}", fmt::join(expected, " "))) << lines[s];
      EXPECT_EQ(found[s].n_best[0].hypothesis.words, hypothesis.words);
    }
    EXPECT_GT(replaced, 10u);
  }
}

TEST(UnknownWords, AreInShortlistsWhereTheyAreReplaced) {
  const support::TemporaryFolder folder;
  std::ofstream(folder / "lex.s2t") << "a a 0.5\n";
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.shortlist = ShortlistOptions{.path = folder / "lex.s2t", .limits = {.first = 0}};
  options.replace_unknowns = true;
  options.beam_size = 2;
  const Translator translator(aligned_model(), options);
  // With the end symbol and padding alone, what remains is the unknown word.
  const auto vocabulary = load_vocabulary(support::vocabularies()[0]);
  for (const Translation& translation : translator.translate(input_lines()))
    for (const TranslatedText& entry : translation.n_best)
      EXPECT_THAT(entry.text, ::testing::Not(HasSubstr("<unk>")));
}

TEST(UnknownWords, NeedAnAlignment) {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.replace_unknowns = true;
  const auto translator = [&] {
    Model model = aligned_model();
    const ValueId logits = model.graph.find_output("logits");
    model.graph.clear_outputs();
    model.graph.add_output("logits", logits);
    Translator(std::move(model), options);
  };
  EXPECT_THAT(translator, ThrowsMessage<Error>(HasSubstr("has no output 'alignment'")));
}

TEST(Coverage, IsAddedToScores) {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = 4;
  options.normalize = 0.5f;
  options.alignment = true;
  options.coverage_penalty = 0.4f;
  const std::vector<std::string> lines = input_lines();
  const std::vector<Translation> found = Translator(aligned_model(), options).translate(lines);
  for (const Translation& translation : found) {
    float last = 0;
    for (const TranslatedText& entry : translation.n_best) {
      const Hypothesis& hypothesis = entry.hypothesis;
      double coverage = 0;
      for (std::size_t i = 0; i < translation.source_words; ++i) {
        double weight = 0;
        for (const auto& row : hypothesis.alignment) weight += row[i];
        coverage += std::log(std::clamp<double>(weight, kLeastCoverage, 1));
      }
      const auto length = static_cast<double>(hypothesis.words.size());
      EXPECT_NEAR(hypothesis.score, hypothesis.log_probability / std::sqrt(length) + 0.4 * coverage,
                  1e-3);
      if (&entry != &translation.n_best.front()) {
        EXPECT_LE(hypothesis.score, last);
      }
      last = hypothesis.score;
    }
  }
  options.n_best = 1;
  const std::vector<Translation> early = Translator(aligned_model(), options).translate(lines);
  for (std::size_t s = 0; s < lines.size(); ++s)
    EXPECT_EQ(early[s].n_best[0].hypothesis.score, found[s].n_best[0].hypothesis.score);
  options.coverage_penalty = -1;
  EXPECT_THAT([&] { Translator(aligned_model(), options); },
              ThrowsMessage<Error>(HasSubstr("coverage-penalty must be at least 0, not -1")));
}

}  // namespace
}  // namespace fuselage::unknown_words_test
