// Translating with shortlists, from the table in a file to the words of a translation.

#include "text/shortlist/shortlist.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/files/file.h"
#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translator.h"
#include "tests/decoding/support.h"
#include "tests/temp_path.h"

namespace fuselage::shortlist_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

/// The bundled model or a conformance case, with some lines for it.
class Shortlisted : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "en-de") {
      model_ = std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de";
      lines_ = {"Where is the nearest station?", "I don't know.", "He has been to Paris twice."};
      options_.shortlist = ShortlistOptions{};  // In place of its own.
      return;
    }
    const std::string folder = support::conformance_case(GetParam());
    model_ = folder + "/model.npz";
    options_.vocabularies.paths = support::vocabularies();
    std::ifstream stream(folder + "/input.sp.en");
    for (std::string line; lines_.size() < 10 && std::getline(stream, line);)
      lines_.push_back(line);
  }

  Model load() const { return load_model(model_); }
  std::vector<Translation> translate() const {
    return Translator(load(), options_).translate(lines_);
  }

  /// Makes the shortlist of `text`, a table.
  void take(const std::string& text, const LexicalLimits& limits) {
    const std::string path = temp_path("lex.s2t");
    write_file_atomically(path, text);
    options_.shortlist = {.path = path, .limits = limits};
  }

  /// Each word of a translation as a translation of each word of its source.
  std::string table_of(const std::vector<Translation>& translations) const {
    const VocabularyPair pair = load_vocabulary_pair(load(), options_.vocabularies);
    std::string text;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      for (const WordId source : pair.source->encode(lines_[i]))
        for (const WordId target : translations[i].n_best[0].hypothesis.words)
          text += fmt::format("{} {} 0.5\n", pair.target->word(target), pair.source->word(source));
    return text;
  }

  std::string model_;
  std::vector<std::string> lines_;
  TranslatorOptions options_{.beam_size = 4,
                             .normalize = 0.6f,
                             .max_length_factor = 2,
                             .compile = {.precision = Precision::fp32}};
};

INSTANTIATE_TEST_SUITE_P(Models, Shortlisted,
                         ::testing::Values("en-de", "transformer-ssru", "transformer-post",
                                           "nematus", "s2s-basic", "s2s-deep-ln", "amun"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::vector<std::vector<WordId>> words_of(const std::vector<Translation>& translations) {
  std::vector<std::vector<WordId>> words;
  for (const Translation& translation : translations)
    for (const TranslatedText& entry : translation.n_best) words.push_back(entry.hypothesis.words);
  return words;
}

void expect_near(const std::vector<Translation>& actual, const std::vector<Translation>& expected) {
  ASSERT_EQ(words_of(actual), words_of(expected));
  for (std::size_t i = 0; i < actual.size(); ++i)
    for (std::size_t h = 0; h < actual[i].n_best.size(); ++h) {
      const Hypothesis& a = actual[i].n_best[h].hypothesis;
      const Hypothesis& e = expected[i].n_best[h].hypothesis;
      const float size = std::max(1.0f, std::fabs(e.log_probability));
      EXPECT_NEAR(a.log_probability, e.log_probability, 1e-5 * size);
      EXPECT_NEAR(a.score, e.score, 1e-5 * size);
    }
}

TEST_P(Shortlisted, ByAllWordsIsNoRestriction) {
  const std::vector<Translation> expected = translate();
  take("a b 1\n", {.first = 1'000'000});
  expect_near(translate(), expected);
}

TEST_P(Shortlisted, ByWhatIsBestAnywayChangesNoWordOfAGreedySearch) {
  options_.beam_size = 1;
  const std::vector<Translation> expected = translate();
  take(table_of(expected), {.first = 0, .best = 1000});
  EXPECT_EQ(words_of(translate()), words_of(expected));
}

TEST_P(Shortlisted, HasNoOtherWords) {
  const std::vector<Translation> unrestricted = translate();
  take(table_of(unrestricted), {.first = 1, .best = 4});
  const std::vector<Translation> restricted = translate();
  EXPECT_NE(words_of(restricted), words_of(unrestricted)) << "nothing was restricted";
  const Model model = load();
  const VocabularyPair pair = load_vocabulary_pair(model, options_.vocabularies);
  const Shortlist list(load_lexical_table(*options_.shortlist, {*pair.source, *pair.target}),
                       pair.target->size(), pair.target->end_id(), pair.shared);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const std::vector<WordId> allowed = list.words_for(pair.source->encode(lines_[i]));
    for (const TranslatedText& entry : restricted[i].n_best)
      for (const WordId word : entry.hypothesis.words)
        EXPECT_TRUE(std::binary_search(allowed.begin(), allowed.end(), word)) << lines_[i];
  }
}

/// All that there is to tell, to the last digit.
std::string show(const std::vector<Translation>& translations) {
  std::string text;
  for (const Translation& translation : translations)
    for (const TranslatedText& entry : translation.n_best) {
      text += entry.text;
      for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
      text += '\n';
    }
  return text;
}

TEST_P(Shortlisted, DoesNotDependOnBatches) {
  take(table_of(translate()), {.first = 10, .best = 5});
  for (const Precision precision : {Precision::fp32, Precision::int8}) {
    options_.compile.precision = precision;
    options_.batches.mini_batch = 1;
    const std::string alone = show(translate());
    options_.batches = {.mini_batch = 64, .maxi_batch = 4, .maxi_batch_sort = MaxiBatchSort::src};
    options_.threads = 2;
    EXPECT_EQ(show(translate()), alone);
  }
}

TEST_P(Shortlisted, OfABatchIsThatOfItsOnlySentence) {
  take(table_of(translate()), {.first = 10, .best = 5});
  options_.batches.mini_batch = 1;
  const std::string own = show(translate());
  options_.shortlist->union_of_batch = true;
  EXPECT_EQ(show(translate()), own);
  options_.batches.mini_batch = 64;
  EXPECT_NE(show(translate()), own) << "no list became longer by the others";
}

/// What one model of the tests is translated with.
class ShortlistOptionsTest : public ::testing::Test {
 protected:
  ShortlistOptionsTest() {
    const std::string path = temp_path("small.s2t");
    write_file_atomically(path, "a b 1\n");
    options_.vocabularies.paths = support::vocabularies();
    options_.shortlist = {.path = path};
  }

  TranslatorOptions options_;
};

TEST_F(ShortlistOptionsTest, GoWithAModelsOtherOptions) {
  options_.beam_size = 1;
  options_.max_length_factor = 2;
  options_.alignment = true;
  options_.shortlist->limits.first = 300;
  const auto translate = [&] {
    return Translator(load_model(support::small_model()), options_).translate({"Tom is here ."});
  };
  const std::vector<Translation> fused = translate();
  EXPECT_FALSE(fused[0].n_best[0].hypothesis.alignment.empty());
  options_.compile.exact = true;
  expect_near(translate(), fused);
  options_.compile = {.backend = "reference"};
  expect_near(translate(), fused);
  options_.compile = {};
  options_.skip_cost = true;
  EXPECT_EQ(words_of(translate()), words_of(fused));
}

TEST_F(ShortlistOptionsTest, OfFewSourceWordsGiveANote) {
  const auto notes = [&] {
    return Translator(load_model(support::small_model()), options_).notes();
  };
  EXPECT_THAT(notes(), Contains(HasSubstr("small.s2t has translations of the first 46 source words "
                                          "only, but the vocabulary has")));
  write_file_atomically(
      options_.shortlist->path,
      fmt::format("a {} 1\n", load_vocabulary(support::vocabularies()[0])->word(900)));
  EXPECT_THAT(notes(), Not(Contains(HasSubstr("small.s2t"))));
}

TEST_F(ShortlistOptionsTest, OfAMissingFileAreRefused) {
  options_.shortlist = {.path = "/no/such.s2t"};
  EXPECT_THAT([&] { Translator(load_model(support::small_model()), options_); },
              ThrowsMessage<Error>(HasSubstr("/no/such.s2t")));
}

}  // namespace
}  // namespace fuselage::shortlist_test
