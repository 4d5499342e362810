// The library as a program uses it: a model's own settings, and the options before them.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/files/file.h"
#include "base/machine/cores.h"
#include "decoding/resolve_options.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/output_format.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/support.h"

namespace fuselage::embedding_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

const std::string kBundled = std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de";
const std::string kFormer = std::string(FUSELAGE_TEST_DATA) + "/directory-2026-11";

std::string n_best(const std::vector<Translation>& translations) {
  std::string text;
  for (std::size_t i = 0; i < translations.size(); ++i)
    text += format_translation(i, translations[i], {.n_best = true});
  return text;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream stream(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The bytes that the command is tested for.
TEST(Embedding, GivesTheBytesOfTheCommand) {
  const Translator translator(kFormer, {.beam_size = 4, .compile = {.precision = Precision::int8}});
  EXPECT_EQ(n_best(translator.translate(lines_of(kFormer + "/input.en"))),
            read_file(kFormer + "/expected.int8.beam4.txt"));
}

TEST(Embedding, RunsTheBundledModelAsItStates) {
  const Translator translator(kBundled);
  EXPECT_EQ(translator.options().beam_size, 6);
  EXPECT_EQ(translator.options().normalize, 0.6f);
  EXPECT_EQ(translator.options().compile.precision, Precision::int8);
  // As README.md shows what the command prints.
  EXPECT_EQ(translator.translate("If it rains tomorrow, we will stay at home.").text(),
            "Wenn es morgen regnet, bleiben wir zu Hause.");
  const Translator two(load_model(kBundled), {.beam_size = 2});
  EXPECT_EQ(format_translation(0, two.translate("I would like a cup of coffee, please."),
                               {.n_best = true}),
            "0 ||| Ich hätte gern eine Tasse Kaffee. ||| F0= -1.46423 ||| -0.420491\n"
            "0 ||| Ich hätte gerne eine Tasse Kaffee. ||| F0= -1.46907 ||| -0.421879\n");
}

TEST(Embedding, TranslatesALineAsAmongOthersAndInStreams) {
  const Translator translator(kBundled, {.alignment = true, .threads = 2});
  const std::vector<std::string> lines = {"Yes.", "", "Tom is my friend.", "Where are you?"};
  const std::vector<Translation> together = translator.translate(lines);
  std::vector<Translation> alone;
  std::string text;
  for (const std::string& line : lines) {
    alone.push_back(translator.translate(line));
    text += line + "\n";
  }
  EXPECT_EQ(n_best(alone), n_best(together));
  EXPECT_EQ(alone[2].n_best[0].hypothesis.alignment, together[2].n_best[0].hypothesis.alignment);
  std::istringstream input(text);
  std::vector<Translation> streamed;
  translator.translate(input, [&](std::size_t line, Translation&& translation) {
    EXPECT_EQ(line, streamed.size());
    streamed.push_back(std::move(translation));
  });
  EXPECT_EQ(n_best(streamed), n_best(together));
}

TEST(Embedding, RefusesAnEmptySink) {
  const Translator translator(find_bundled_model());
  std::istringstream text("Hello.");
  EXPECT_THAT([&] { translator.translate(text, nullptr); },
              ThrowsMessage<Error>(HasSubstr("sink")));
}

TEST(Embedding, ServesSeveralThreads) {
  Translator first(kBundled);
  const Translator translator = std::move(first);
  const Translation want = translator.translate("Tom is my friend.");
  std::vector<std::string> got(4);
  std::vector<std::thread> threads;
  for (std::string& text : got)
    threads.emplace_back([&] { text = translator.translate("Tom is my friend.").text(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(got, ::testing::Each(want.text()));
}

TEST(Embedding, ScoresWithTheModelsOwnSettings) {
  // A shortlist has the scores of its words.
  const Translator translator(kBundled, {.shortlist = ShortlistOptions{}});
  const Translation translation = translator.translate("Tom is my friend.");
  const Scorer scorer(kBundled);
  EXPECT_EQ(scorer.options().normalize, 0.6f);
  EXPECT_EQ(scorer.options().compile.precision, Precision::int8);
  const PairScore score = scorer.score("Tom is my friend.", translation.text());
  EXPECT_EQ(score.word_scores.size(), translation.n_best[0].hypothesis.words.size());
  EXPECT_NEAR(score.score, translation.n_best[0].hypothesis.score, 1e-5);
  EXPECT_EQ(score.words, translation.n_best[0].hypothesis.words);
  EXPECT_EQ(scorer.target_word(score.words.front()), "▁Tom");
  EXPECT_EQ(translator.target_word(score.words.back()), "</s>");
  for (const std::int32_t none : {-1, 1 << 20}) {
    EXPECT_EQ(scorer.target_word(none), "");
    EXPECT_EQ(translator.target_word(none), "");
  }
}

TEST(Embedding, LogsNotesOfLoadingAndOfLines) {
  const support::TemporaryFolder folder;
  const std::string large = folder / "large.yml";
  write_file_atomically(large, read_file(support::vocabularies()[0]) + "new: 1000\n");
  std::vector<std::string> notes;
  const Log log = [&](std::string_view note) { notes.emplace_back(note); };
  const std::vector<std::string> paths = {large, support::vocabularies()[1]};
  const Translator translator(support::small_model(),
                              {.max_length = 2, .vocabularies = {.paths = paths}, .log = log});
  EXPECT_EQ(notes, translator.notes());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("of which the model knows the first 1000")));
  notes.clear();
  translator.translate({"▁Tom", "▁Tom ▁is ▁here"});
  EXPECT_THAT(notes, ElementsAre(HasSubstr("longer than 2")));
  notes.clear();
  translator.translate("▁Tom ▁is ▁here");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("longer than 2")));
  notes.clear();
  const Scorer scorer(
      support::small_model(),
      {.max_length = 2, .vocabularies = {.paths = support::vocabularies()}, .log = log});
  scorer.score("▁Tom", "▁Tom ▁is ▁here");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("of the target longer than 2")));
}

/// Each option that a model may state: the option, else the model's, else marian-decoder's.
TEST(ResolvedOptions, AreTheOptionsThenTheModelsThenMarians) {
  Model none, stating;
  stating.decode = {.beam_size = 6,
                    .normalize = 0.6f,
                    .word_penalty = 0.5f,
                    .max_length_factor = 2.0f,
                    .max_length = 50,
                    .allow_unk = true,
                    .mini_batch = 8,
                    .mini_batch_words = 100,
                    .maxi_batch = 10,
                    .maxi_batch_sort = MaxiBatchSort::none,
                    .precision = Precision::int8,
                    .activations = Activations::fast};
  stating.shortlist.path = "lex";
  const TranslatorOptions given{
      .beam_size = 4,
      .normalize = 1.0f,
      .word_penalty = 0.0f,
      .max_length_factor = 1.0f,
      .max_length = 20,
      .allow_unk = false,
      .shortlist = ShortlistOptions{},
      .threads = 3,
      .batches = {.mini_batch = 1,
                  .mini_batch_words = 0,
                  .maxi_batch = 2,
                  .maxi_batch_sort = MaxiBatchSort::src},
      .compile = {.precision = Precision::fp32, .activations = Activations::exact}};
  const auto expect = [](const TranslatorOptions& got, const DecodeDefaults& want,
                         const std::string& shortlist) {
    EXPECT_EQ(got.beam_size, want.beam_size);
    EXPECT_EQ(got.normalize, want.normalize);
    EXPECT_EQ(got.word_penalty, want.word_penalty);
    EXPECT_EQ(got.max_length_factor, want.max_length_factor);
    EXPECT_EQ(got.max_length, want.max_length);
    EXPECT_EQ(got.allow_unk, want.allow_unk);
    EXPECT_EQ(got.batches.mini_batch, want.mini_batch);
    EXPECT_EQ(got.batches.mini_batch_words, want.mini_batch_words);
    EXPECT_EQ(got.batches.maxi_batch, want.maxi_batch);
    EXPECT_EQ(got.batches.maxi_batch_sort, want.maxi_batch_sort);
    EXPECT_EQ(got.compile.precision, want.precision);
    EXPECT_EQ(got.compile.activations, want.activations);
    EXPECT_EQ(got.shortlist->path, shortlist);
  };
  const DecodeDefaults marian{.beam_size = 12,
                              .normalize = 0.0f,
                              .word_penalty = 0.0f,
                              .max_length_factor = 3.0f,
                              .max_length = 1000,
                              .allow_unk = false,
                              .precision = Precision::fp32,
                              .activations = Activations::exact};
  const DecodeDefaults options{.beam_size = 4,
                               .normalize = 1.0f,
                               .word_penalty = 0.0f,
                               .max_length_factor = 1.0f,
                               .max_length = 20,
                               .allow_unk = false,
                               .mini_batch = 1,
                               .mini_batch_words = 0,
                               .maxi_batch = 2,
                               .maxi_batch_sort = MaxiBatchSort::src,
                               .precision = Precision::fp32,
                               .activations = Activations::exact};
  expect(resolved(TranslatorOptions{}, none), marian, "");
  expect(resolved(TranslatorOptions{}, stating), stating.decode, "lex");
  expect(resolved(given, none), options, "");
  expect(resolved(given, stating), options, "");
  const ScorerOptions scorer = resolved(ScorerOptions{.normalize = 1.0f}, stating);
  EXPECT_EQ(scorer.normalize, 1.0f);
  EXPECT_EQ(scorer.word_penalty, 0.5f);
  EXPECT_EQ(scorer.compile.precision, Precision::int8);
  EXPECT_EQ(resolved(given, none).threads, 3u);
  EXPECT_EQ(resolved(TranslatorOptions{.threads = 0}, none).threads, useful_threads());
  EXPECT_EQ(resolved(TranslatorOptions{.threads = 0, .compile = {.backend = "cuda"}}, none).threads,
            0u);
}

TEST(ResolvedOptions, AreInRange) {
  const auto resolve = [](const TranslatorOptions& options) {
    return [=] {
      const Model model;
      resolved(options, model);
    };
  };
  EXPECT_THAT(resolve({.beam_size = 0}),
              ThrowsMessage<Error>("beam-size must be a whole number from 1 to 1024, not 0"));
  EXPECT_THAT(resolve({.max_length_factor = 0.0f}),
              ThrowsMessage<Error>(HasSubstr("max-length-factor must be a number above 0")));
  EXPECT_THAT(resolve({.batches = {.mini_batch = 0}}),
              ThrowsMessage<Error>(HasSubstr("mini-batch must be")));
}

/// A decoder configuration beside its model, as the command's tests have one.
class Configuration : public ::testing::Test {
 protected:
  Configuration() {
    const std::string data = FUSELAGE_TEST_DATA;
    std::filesystem::copy_file(support::small_model(), folder_ / "model.npz");
    std::filesystem::copy_file(support::conformance_case("nematus") + "/model.npz",
                               folder_ / "other.npz");
    std::filesystem::copy_file(data + "/vocab.yml", folder_ / "vocab.yml");
  }

  /// The configuration with these further lines.
  std::string path(const std::string& lines) const {
    std::string file = folder_ / "model.npz.decoder.yml";
    write_file_atomically(file, "relative-paths: true\nvocabs: [vocab.yml, vocab.yml]\n" + lines);
    return file;
  }

  const support::TemporaryFolder folder_;
  const std::vector<std::string> lines_ = {"▁Tom ▁is ▁here ▁.", "▁Tom"};
};

TEST_F(Configuration, IsAModelWithItsSettings) {
  const Translator configured(
      path("models: [model.npz]\nbeam-size: 2\nnormalize: 0.6\nn-best: true\n"));
  EXPECT_THAT(configured.notes(), IsEmpty());
  const Translator named(
      support::small_model(),
      {.beam_size = 2, .normalize = 0.6f, .vocabularies = {.paths = support::vocabularies()}});
  EXPECT_EQ(n_best(configured.translate(lines_)), n_best(named.translate(lines_)));
  const Model model = load_model(path("models: [model.npz]\nallow-special: true\n"));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("'allow-special' is ignored")));
}

TEST_F(Configuration, IsAWeightedEnsemble) {
  const Model model =
      load_model(path("models: [model.npz, other.npz]\nweights: [0.75, 0.5]\nbeam-size: 2\n"));
  EXPECT_EQ(model.decode, DecodeDefaults{.beam_size = 2});
  EXPECT_THAT(model.vocabularies, ElementsAre(folder_ / "vocab.yml", folder_ / "vocab.yml"));
  EXPECT_TRUE(model.graph.find_output("log_probs").valid());
  EXPECT_EQ(Translator(model).translate(lines_).size(), 2u);
}

TEST_F(Configuration, HasAShortlist) {
  write_file_atomically(folder_ / "lex.s2t", "▁Tom ▁Tom 0.5\n");
  const std::string file = path("models: [model.npz]\nshortlist: [lex.s2t, 3, 2]\n");
  const Model model = load_model(file);
  EXPECT_EQ(model.shortlist.path, folder_ / "lex.s2t");
  EXPECT_EQ(model.shortlist.limits.first, 3);
  const Translator restricted(model), free(model, {.shortlist = ShortlistOptions{}});
  EXPECT_NE(n_best(restricted.translate(lines_)), n_best(free.translate(lines_)));
}

TEST_F(Configuration, SettlesWhatItsModelsStateDifferently) {
  Model model = load_model(support::small_model());
  for (const int beam : {2, 3}) {
    model.decode.beam_size = beam;
    save_model_directory(model, support::vocabularies(), folder_ / fmt::format("beam{}", beam));
  }
  EXPECT_THAT([&] { load_model(path("models: [beam2, beam3]\n")); },
              ThrowsMessage<Error>(HasSubstr("has 2 for beam-size, but")));
  EXPECT_EQ(load_model(path("models: [beam2, beam3]\nbeam-size: 5\n")).decode.beam_size, 5);
  EXPECT_EQ(load_model(path("models: [beam3]\n")).decode.beam_size, 3);
  write_file_atomically(folder_ / "other.yml", "models: [beam2]\n");
  EXPECT_THAT([&] { load_model(path("models: [other.yml]\n")); },
              ThrowsMessage<Error>(HasSubstr("is a configuration too")));
}

}  // namespace
}  // namespace fuselage::embedding_test
