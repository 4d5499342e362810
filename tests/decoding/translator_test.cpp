#include "fuselage/decoding/translator.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "tests/decoding/support.h"
#include "text/vocabulary.h"

namespace fuselage::translator_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

std::vector<std::string> input_lines() {
  std::ifstream stream(std::string(FUSELAGE_TEST_DATA) + "/transformer-ssru/input.sp.en");
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Model small_model() { return load_model(support::small_model()); }

TranslatorOptions small_options() {
  TranslatorOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.beam_size = 3;
  return options;
}

/// All that there is to tell about translations, to the last digit.
std::string show(const std::vector<Translation>& translations) {
  std::string text;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    text += format_translation(i, translations[i],
                               {.n_best = true, .alignment = AlignmentFormat{.soft = true}});
    for (const TranslatedText& entry : translations[i].n_best)
      for (const float score : entry.hypothesis.word_scores) text += fmt::format(" {:a}", score);
  }
  return text;
}

TEST(Translator, DoesNotDependOnBatchesOrThreads) {
  TranslatorOptions options = small_options();
  options.alignment = true;
  std::vector<std::string> lines = input_lines();
  lines.insert(lines.begin() + 3, "");
  options.batches = {.mini_batch = 1, .maxi_batch = 1};
  const std::string expected = show(Translator(small_model(), options).translate(lines));
  for (const std::size_t threads : {1, 3}) {
    for (const BatchOptions& batches :
         {BatchOptions{}, BatchOptions{.mini_batch = 64},
          BatchOptions{.mini_batch = 7, .maxi_batch = 3, .maxi_batch_sort = MaxiBatchSort::none},
          BatchOptions{.mini_batch = 1, .mini_batch_words = 50, .maxi_batch = 100}}) {
      options.threads = threads;
      options.batches = batches;
      EXPECT_EQ(show(Translator(small_model(), options).translate(lines)), expected);
    }
  }
}

/// The lines that are read before the first one, which is the shortest, is handed on.
std::size_t lines_before_the_first(const std::string& model) {
  TranslatorOptions options = small_options();
  options.threads = 1;
  options.batches.mini_batch = 1;
  const Translator translator(load_model(support::conformance_case(model) + "/model.npz"), options);
  const std::vector<std::string> lines = input_lines();
  std::atomic<std::size_t> read = 0, at_first = 0;
  translator.translate(
      [&](std::string& line, LineGuide&) {
        if (read == 40) return false;
        line = read == 0 ? "a" : lines[read % lines.size()];
        ++read;
        return true;
      },
      [&](std::size_t line, Translation&&) {
        if (line == 0) at_first = read.load();
      });
  return at_first;
}

TEST(Translator, SortsLinesOnlyForModelsThatKeepRowsOfAllWords) {
  EXPECT_LE(lines_before_the_first("transformer-ssru"), 17u);
  EXPECT_GT(lines_before_the_first("transformer-pre"), 17u);
}

TEST(Translator, MayBeCalledFromSeveralThreads) {
  TranslatorOptions options = small_options();
  options.batches.mini_batch = 4;
  const Translator translator(small_model(), options);
  const std::vector<std::string> lines = input_lines();
  const std::string expected = show(translator.translate(lines));
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results)
    threads.emplace_back([&] { result = show(translator.translate(lines)); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, expected);
}

TEST(Translator, GivesEmptyLinesAnEmptyTranslation) {
  const Translator translator(small_model(), small_options());
  const auto translations = translator.translate({"", "  ", "▁Tom"});
  ASSERT_THAT(translations, SizeIs(3));
  for (const std::size_t i : {0, 1}) {
    ASSERT_THAT(translations[i].n_best, SizeIs(1));
    EXPECT_EQ(translations[i].n_best[0].text, "");
    EXPECT_EQ(translations[i].n_best[0].hypothesis.score, 0);
    EXPECT_THAT(translations[i].oddities, ElementsAre(LineOddity::empty));
  }
  EXPECT_NE(translations[2].n_best[0].text, "");
  EXPECT_THAT(translator.translate(std::vector<std::string>{}), IsEmpty());
}

TEST(Translator, TranslatesWhatComesBeforeAnError) {
  TranslatorOptions options = small_options();
  options.strict = true;
  options.batches = {.mini_batch = 4, .maxi_batch = 4, .maxi_batch_sort = MaxiBatchSort::src};
  const Translator translator(small_model(), options);
  std::istringstream input("▁Tom\n▁ist\n\xFF\n▁Tom\n");
  std::size_t count = 0;
  EXPECT_THAT([&] { translator.translate(input, [&](std::size_t, Translation&&) { ++count; }); },
              ThrowsMessage<Error>(HasSubstr("line 3")));
  EXPECT_EQ(count, 2u);
}

TEST(Translator, ReadsRightToLeft) {
  Model model = small_model();
  model.right_left = true;
  const Translator reversed(std::move(model), small_options());
  const Translator straight(small_model(), small_options());
  const auto a = reversed.translate({". ▁Tom ▁see"})[0].n_best[0];
  const auto b = straight.translate({"▁see ▁Tom ."})[0].n_best[0];
  EXPECT_EQ(a.hypothesis.words, b.hypothesis.words);
  std::istringstream stream(b.text);
  std::string backwards;
  for (std::string word; stream >> word;)
    backwards = backwards.empty() ? word : word + " " + backwards;
  EXPECT_EQ(a.text, backwards);
}

TEST(Translator, ProducesUnknownWordsOnlyWhenAllowed) {
  TranslatorOptions options = small_options();
  const auto vocabulary = load_vocabulary(support::vocabularies()[1]);
  const auto has_unknown = [&](const Translation& translation) {
    for (const TranslatedText& entry : translation.n_best)
      for (const WordId word : entry.hypothesis.words)
        if (word == vocabulary->unknown_id()) return true;
    return false;
  };
  // A model that likes nothing better than the unknown word.
  Model model = small_model();
  Tensor bias = model.weights.at("decoder_ff_logit_out_b").to_f32();
  Tensor raised(DType::f32, bias.shape());
  std::copy_n(bias.data<float>(), bias.size(), raised.mutable_data<float>());
  raised.mutable_data<float>()[vocabulary->unknown_id()] = 100;
  model.weights.at("decoder_ff_logit_out_b") = raised;
  EXPECT_FALSE(has_unknown(Translator(model, options).translate({"▁Tom"})[0]));
  options.allow_unk = true;
  EXPECT_TRUE(has_unknown(Translator(model, options).translate({"▁Tom"})[0]));
}

TEST(Translator, ReportsWeightsThatAreNoNumbers) {
  Model model = small_model();
  Tensor broken(DType::f32, model.weights.at("Wemb").shape());
  std::fill_n(broken.mutable_data<float>(), broken.size(), std::nanf(""));
  model.weights.at("Wemb") = broken;
  const Translator translator(model, small_options());
  EXPECT_THAT([&] { translator.translate({"▁Tom"}); },
              ThrowsMessage<Error>(HasSubstr("not numbers")));
}

TEST(Translator, EndsAfterAGivenNumberOfWords) {
  TranslatorOptions options = small_options();
  const std::vector<Translation> free = Translator(small_model(), options).translate(input_lines());
  options.max_words = 3;
  const std::vector<Translation> cut = Translator(small_model(), options).translate(input_lines());
  std::size_t shorter = 0;
  for (std::size_t i = 0; i < free.size(); ++i) {
    EXPECT_LE(cut[i].n_best[0].hypothesis.words.size(), 3u);
    shorter += free[i].n_best[0].hypothesis.words.size() > 3 ? 1 : 0;
  }
  EXPECT_GT(shorter, 0u);
  options.max_words = 1000;  // the factor no longer counts
  options.max_length_factor = 0.01f;
  EXPECT_EQ(show(Translator(small_model(), options).translate(input_lines())), show(free));
  options.max_words = -1;
  EXPECT_THAT([&] { Translator(small_model(), options); },
              ThrowsMessage<Error>(HasSubstr("max-words must be a whole number from 0 to")));
}

TEST(Translator, RefusesOptionsThatContradictEachOther) {
  TranslatorOptions options = small_options();
  options.skip_cost = true;
  EXPECT_THAT([&] { Translator(small_model(), options); },
              ThrowsMessage<Error>(HasSubstr("skip-cost needs beam-size 1, not 3")));
  options.beam_size = 1;
  EXPECT_THAT(Translator(small_model(), options).translate({"▁Tom"}), SizeIs(1));
}

TEST(Translator, NeedsAVocabularyForEachSide) {
  TranslatorOptions options = small_options();
  options.vocabularies.paths.pop_back();
  EXPECT_THAT([&] { Translator(small_model(), options); },
              ThrowsMessage<Error>(HasSubstr("two files")));
}

/// The vocabulary of `lines` of the first one.
std::string vocabulary_of(const support::TemporaryFolder& folder,
                          const std::function<bool(std::size_t)>& has) {
  std::ifstream whole(support::vocabularies()[0]);
  std::ofstream part(folder / "part.yml");
  std::size_t number = 0;
  for (std::string line; std::getline(whole, line); ++number)
    if (has(number)) part << line << "\n";
  return folder / "part.yml";
}

TEST(Translator, TakesWordsWithoutTextWhereverTheyAre) {
  const std::vector<std::string> lines{"▁Tom ▁is ▁here .", "▁I ▁like ▁it ."};
  const auto translated = [&](const std::function<bool(std::size_t)>& has,
                              std::vector<std::string>& notes) {
    const support::TemporaryFolder folder;
    TranslatorOptions options = small_options();
    options.vocabularies.paths = {support::vocabularies()[0], vocabulary_of(folder, has)};
    options.guided = true;
    const Translator translator(small_model(), options);
    notes = translator.notes();
    std::vector<std::vector<std::int32_t>> words;
    for (const Translation& translation : translator.translate(lines))
      words.push_back(translation.n_best.front().hypothesis.words);
    return words;
  };
  std::vector<std::string> notes;
  const auto all = translated([](std::size_t) { return true; }, notes);
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(translated([](std::size_t line) { return line < 10 || line > 500; }, notes), all)
      << "a gap";
  EXPECT_THAT(notes, IsEmpty());
  EXPECT_EQ(translated([](std::size_t line) { return line < 10; }, notes), all) << "no last words";
  EXPECT_THAT(notes, ElementsAre(HasSubstr("has 10 words, but the model has 1000")));
}

TEST(Translator, TellsAboutWordsThatTheModelDoesNotKnow) {
  const support::TemporaryFolder folder;
  const std::string large = folder / "large.yml";
  write_file_atomically(large, read_file(support::vocabularies()[0]) + "new: 1000\n");
  TranslatorOptions options = small_options();
  options.vocabularies.paths[0] = large;
  const Translator translator(small_model(), options);
  EXPECT_THAT(translator.notes(),
              ElementsAre(HasSubstr("of which the model knows the first 1000")));
  EXPECT_THAT(translator.translate({"new"}), SizeIs(1));
}

TEST(Scorer, NeedsAsManyLinesOnEitherSide) {
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  const Scorer scorer(small_model(), options);
  std::istringstream sources("▁Tom\n▁Tom\n"), targets("▁Tom\n");
  std::size_t count = 0;
  EXPECT_THAT([&] { scorer.score(sources, targets, [&](std::size_t, PairScore&&) { ++count; }); },
              ThrowsMessage<Error>(HasSubstr("the target text ends after 1 line")));
  EXPECT_EQ(count, 1u);
}

TEST(Scorer, EndsWhenItsSinkThrows) {
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.batches = {.mini_batch = 1, .maxi_batch = 1};
  options.threads = 2;
  const Scorer scorer(small_model(), options);
  const std::vector<std::string> lines(1000, "▁Tom");
  std::size_t count = 0;
  const Scorer::Sink sink = [&](std::size_t, PairScore&&) {
    if (++count == 3) throw std::runtime_error("enough");
  };
  EXPECT_THAT([&] { scorer.score(lines, lines, sink); },
              ThrowsMessage<std::runtime_error>(HasSubstr("enough")));
  EXPECT_EQ(count, 3u);
  EXPECT_THAT([&] { scorer.score(lines, lines, nullptr); },
              ThrowsMessage<Error>(HasSubstr("sink")));
}

TEST(Scorer, DoesNotDependOnBatchesOrThreads) {
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  options.alignment = true;
  std::string text;
  for (const std::string& line : input_lines()) text += line + "\n";
  const auto run = [&] {
    std::istringstream sources(text),
        targets("\n" + text.substr(0, text.rfind('\n', text.size() - 2) + 1));
    std::string output;
    const Scorer scorer(small_model(), options);
    scorer.score(sources, targets, [&](std::size_t, PairScore&& score) {
      output += format_score(0, score, {.alignment = AlignmentFormat{.soft = true}});
      for (const float word : score.word_scores) output += fmt::format(" {:a}", word);
    });
    return output;
  };
  options.batches = {.mini_batch = 1, .maxi_batch = 1};
  const std::string expected = run();
  options.threads = 3;
  options.batches = {};
  EXPECT_EQ(run(), expected);
  options.batches = {.mini_batch = 6, .maxi_batch = 2, .maxi_batch_sort = MaxiBatchSort::src};
  EXPECT_EQ(run(), expected);
}

TEST(Scorer, ScoresNBestLists) {
  ScorerOptions options;
  options.vocabularies.paths = support::vocabularies();
  std::vector<std::string> logged;
  options.log = [&](std::string_view note) { logged.emplace_back(note); };
  const Scorer scorer(small_model(), options);
  const std::vector<std::string> lines = input_lines();
  const auto lists =
      scorer.score_n_best({lines[0], lines[1], lines[2]}, {{"▁Tom", "▁das"}, {}, {"▁das"}});
  ASSERT_THAT(lists, ElementsAre(SizeIs(2), SizeIs(0), SizeIs(1)));
  EXPECT_EQ(lists[0][1].score, scorer.score(lines[0], "▁das").score);
  EXPECT_EQ(lists[2][0].score, scorer.score(lines[2], "▁das").score);
  EXPECT_THAT([&] { scorer.score_n_best({lines[0]}, {}); },
              ThrowsMessage<Error>(HasSubstr("1 source lines and 0 lists")));

  logged.clear();
  std::istringstream sources(lines[0] + "\n\n" + lines[2] + "\n");
  std::istringstream n_best(
      "0 ||| ▁Tom ||| F0= -1 ||| -1\n0 ||| ▁das ||| F0= -2 ||| -2\n"
      "1 ||| ▁das ||| F0= -2 ||| -2\n1 ||| ▁Tom ||| F0= -2 ||| -2\n"
      "2 ||| ▁das ||| F0= -2 ||| -2\n4 ||| ▁das ||| F0= -2 ||| -2\n");
  std::vector<std::size_t> source_lines;
  std::vector<float> scores;
  const auto sink = [&](NBestEntry&& entry, PairScore&& score) {
    source_lines.push_back(entry.source_line);
    scores.push_back(score.score);
  };
  EXPECT_THAT([&] { scorer.score_n_best(sources, n_best, sink); },
              ThrowsMessage<Error>(HasSubstr(
                  "entry 6 of the n-best list is of source line 4, counted from 0, but the source "
                  "text has 3 lines")));
  EXPECT_THAT(source_lines, ElementsAre(0, 0, 1, 1, 2));
  EXPECT_EQ(scores[1], lists[0][1].score);
  EXPECT_EQ(scores[4], lists[2][0].score);
  EXPECT_THAT([&] { scorer.score_n_best(n_best, sink); },
              ThrowsMessage<Error>(HasSubstr("the model translates")));

  std::istringstream again(lines[0] + "\n\n"), entries(
                                                   "1 ||| ▁das ||| F0= -2 ||| -2\n"
                                                   "1 ||| ▁Tom ||| F0= -2 ||| -2\n");
  scorer.score_n_best(again, entries, sink);
  EXPECT_THAT(logged, ElementsAre(HasSubstr("1 line of the source was empty (line 2)")))
      << "a source line counts once, by its own number";
}

TEST(NBestEntry, IsReadAndWritten) {
  const std::string marian =
      "12 ||| a b ||| 0-0 1-1 ||| WordScores= -1 -2 ||| F0= -3 F1= -4 ||| -3.5";
  EXPECT_EQ(parse_n_best("0 ||| a &#124;&#124;&#124; b ||| F0= 0 ||| 0", 0).text, "a ||| b");
  const NBestEntry entry = parse_n_best(marian, 0);
  EXPECT_EQ(entry.source_line, 12u);
  EXPECT_EQ(entry.text, "a b");
  EXPECT_EQ(entry.line, marian);
  EXPECT_EQ(add_feature(entry, "Score", -1.25),
            "12 ||| a b ||| 0-0 1-1 ||| WordScores= -1 -2 ||| F0= -3 F1= -4 Score= -1.25 ||| -3.5");
  const auto scored = [](const char* line) { return add_feature(parse_n_best(line, 0), "S", -2); };
  EXPECT_EQ(scored("0 ||| a ||| F0= -3 ||| -3 ||| 0-0"), "0 ||| a ||| F0= -3 S= -2 ||| -3 ||| 0-0");
  EXPECT_EQ(scored("0 |||  ||| F0= 0 ||| 0"), "0 |||  ||| F0= 0 S= -2 ||| 0");
  EXPECT_EQ(scored("0 ||| a |||  ||| 0"), "0 ||| a ||| S= -2 ||| 0");
  EXPECT_EQ(scored("0 ||| a ||| F0= 0 ||| ?"), "0 ||| a ||| F0= 0 S= -2 ||| ?");
  EXPECT_EQ(add_feature(parse_n_best("0 ||| a ||| F0= 0 ||| 0\r", 0), "S", 1e-7, "0-0"),
            "0 ||| a ||| 0-0 ||| F0= 0 S= 1e-07 ||| 0\r");
  const auto refused = [](const std::string& line, const char* message) {
    EXPECT_THAT(
        [&] { parse_n_best(line, 6); },
        ThrowsMessage<Error>(AllOf(HasSubstr("entry 7 of the n-best list"), HasSubstr(message))));
  };
  refused("", "has 1 field instead of four");
  refused("0 ||| a ||| F0= 0", "has 3 fields instead of four");
  refused("a ||| a ||| F0= 0 ||| 0", "begins with 'a' instead of the number");
  refused("-1 ||| a ||| F0= 0 ||| 0", "begins with '-1'");
  refused("99999999999999999999 ||| a ||| F0= 0 ||| 0", "instead of the number");
  refused(std::string(140'000, 'a'), "has more than 131072 bytes");
  EXPECT_THAT([] { check_feature_name("a=b"); }, ThrowsMessage<Error>(HasSubstr("'a=b'")));
  EXPECT_NO_THROW(check_feature_name("Score"));
}

}  // namespace
}  // namespace fuselage::translator_test
